/* Operations and gradients from C: fits y = a x + b to four points by gradient descent.
 *   line_fit [device]    "cpu" (the default) or "cuda:0"; the points are written on the CPU first */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ebb.h"

#define POINTS 4
#define STEPS 300
#define RATE 0.1f

static ebb_context context;
static ebb_device device;

static void must(ebb_status status) {
  if (status == EBB_OK) return;
  fprintf(stderr, "line_fit: %s\n", ebb_last_error());
  exit(1);
}

static ebb_device open_device(const char* name) {
  ebb_device_options options = EBB_INIT(ebb_device_options);
  options.kind = strncmp(name, "cuda", 4) == 0 ? EBB_DEVICE_CUDA : EBB_DEVICE_SYSTEM;
  options.name = name;
  ebb_device opened = 0;
  must(ebb_device_open(&options, &opened));
  return opened;
}

/* `count` numbers as a tensor of rank 1; a single one as a scalar. Made on the CPU, copied to where it is used. */
static ebb_handle tensor(ebb_device cpu, const float* values, int64_t count) {
  ebb_tensor_spec spec = EBB_INIT(ebb_tensor_spec);
  spec.device = cpu;
  spec.dtype = EBB_FLOAT32;
  spec.rank = count == 1 ? 0 : 1;
  spec.dims = &count;
  ebb_handle made = 0;
  must(ebb_tensor_create(context, &spec, &made));
  must(ebb_tensor_write(context, made, values, (uint64_t)count * sizeof(float)));
  if (device == cpu) return made;
  ebb_op_result copy;
  must(ebb_tensor_copy_to(context, made, device, &copy));
  must(ebb_tensor_dispose(context, made));
  return copy.handle;
}

static ebb_handle run(const char* name, ebb_handle left, ebb_handle right) {
  const ebb_handle inputs[] = {left, right};
  ebb_op_result result;
  must(ebb_op_run(context, device, ebb_op_find(name), inputs, 2, NULL, 0, &result, 1, NULL));
  return result.handle;
}

/* One step: errors of the line, gradients of their squares, and new values in `line`. */
static void step(ebb_handle line[2], ebb_handle x, ebb_handle y, ebb_handle rate) {
  ebb_region scope = 0; /* for what is left of a step when it is over */
  must(ebb_region_open(context, 0, "step", &scope));
  ebb_tape tape = 0;
  must(ebb_tape_open(context, &tape));
  for (int i = 0; i < 2; ++i) must(ebb_tape_watch(tape, line[i]));
  const ebb_handle scaled = run("Multiply", line[0], x);
  const ebb_handle predicted = run("Add", scaled, line[1]);
  const ebb_handle errors = run("SquaredDifference", predicted, y);
  must(ebb_tape_stop(tape)); /* the rest of the step is not noted */
  ebb_handle gradients[2];
  must(ebb_tape_backward(tape, device, &errors, 1, NULL, line, 2, gradients));
  must(ebb_tape_close(tape));
  for (int i = 0; i < 2; ++i) {
    const ebb_handle change = run("Multiply", gradients[i], rate);
    const ebb_handle next = run("Sub", line[i], change);
    const ebb_handle over[] = {line[i], gradients[i], change};
    for (int k = 0; k < 3; ++k) must(ebb_region_attach(context, scope, over[k]));
    line[i] = next;
  }
  const ebb_handle over[] = {scaled, predicted, errors};
  for (int k = 0; k < 3; ++k) must(ebb_region_attach(context, scope, over[k]));
  must(ebb_region_close(context, scope));
}

/* Without a copy: a hold gives the address, and keeps the memory while it is used. */
static float on_cpu(ebb_handle scalar) {
  ebb_hold hold = 0;
  void* data = NULL;
  uint64_t bytes = 0;
  must(ebb_hold_acquire(context, scalar, &hold));
  must(ebb_hold_data(context, hold, &data, &bytes));
  const float value = *(const float*)data;
  must(ebb_hold_release(context, hold));
  return value;
}

static float value_of(ebb_handle scalar, ebb_device cpu) {
  ebb_tensor_info info = EBB_INIT(ebb_tensor_info);
  must(ebb_tensor_describe(context, scalar, &info));
  if (info.device == cpu) return on_cpu(scalar);
  float value = 0;
  must(ebb_tensor_read(context, scalar, &value, info.bytes));
  return value;
}

int main(int count, char** arguments) {
  const float xs[POINTS] = {0, 1, 2, 3}, ys[POINTS] = {1, 3, 5, 7};
  const float start = 0, rate_value = RATE / (2 * POINTS);
  const ebb_device cpu = open_device("cpu");
  device = count > 1 ? open_device(arguments[1]) : cpu;
  ebb_context_options options = EBB_INIT(ebb_context_options);
  options.name = "line_fit";
  must(ebb_context_create(&options, &context));

  const ebb_handle x = tensor(cpu, xs, POINTS), y = tensor(cpu, ys, POINTS);
  const ebb_handle rate = tensor(cpu, &rate_value, 1);
  ebb_handle line[2] = {tensor(cpu, &start, 1), tensor(cpu, &start, 1)};
  for (int i = 0; i < STEPS; ++i) step(line, x, y, rate);

  const float slope = value_of(line[0], cpu), offset = value_of(line[1], cpu);
  ebb_memory memory = EBB_INIT(ebb_memory);
  must(ebb_memory_read(context, 0, &memory));
  printf("y = %.3f x + %.3f; %llu tensors were made, %llu are alive\n", slope, offset,
         (unsigned long long)memory.created, (unsigned long long)memory.live);
  const int right =
      slope > 1.98f && slope < 2.02f && offset > 0.95f && offset < 1.05f && memory.live == 5;
  must(ebb_context_destroy(context));
  if (device != cpu) must(ebb_device_close(device));
  must(ebb_device_close(cpu));
  must(ebb_audit());
  return right ? 0 : 1;
}
