#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char* message) {
  fprintf(stderr, "%s\n", message);
  exit(1);
}

void must(ebb_status status) {
  if (status != EBB_OK) fail(ebb_last_error());
}

/* ---- The callbacks: Ebb calls the host ------------------------------------------------------- */

/* Ebb needs memory, and only the collector knows what is garbage. */
static uint64_t collect(void* user, ebb_collection kind) {
  (void)kind; /* this collector has one kind; EBB_CONTEXT_NO_MINOR says so */
  heap_collect(&((host*)user)->heap);
  return 0; /* Ebb measures how long it took */
}

/* These tensors are over. Ebb has booked that; the memory is the engine's, so the host frees it. */
static void end(void* user, const ebb_ended* ended, size_t count) {
  host* h = user;
  ++h->calls;
  for (size_t i = 0; i < count; ++i) {
    ++h->ended[ended[i].reason];
    engine_release(&h->engine, (size_t)ended[i].tag);
  }
}

static void warn(void* user, const char* message) {
  (void)user;
  printf("  warning: %s\n", message);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

void host_open(host* h, size_t budget) {
  if (ebb_abi_version() < EBB_ABI_VERSION) fail("libebb is older than the host was built for");
  memset(h, 0, sizeof(*h));
  h->heap.dead = ebb_orphan; /* the death notice: safe in the middle of a collection */

  ebb_device_options device = EBB_INIT(ebb_device_options);
  device.kind = EBB_DEVICE_FOREIGN;
  device.name = "toy:engine";
  device.budget = budget;
  device.mode = EBB_BUDGET_HARD;
  must(ebb_device_open(&device, &h->device));

  ebb_context_options context = EBB_INIT(ebb_context_options);
  context.name = "toy";
  context.flags = EBB_CONTEXT_NO_MINOR;
  context.user = h;
  context.collect = collect;
  context.end = end;
  context.warn = warn;
  must(ebb_context_create(&context, &h->context));
}

void host_close(host* h) {
  must(ebb_context_destroy(h->context));
  must(ebb_device_close(h->device));
}

void host_record(const char* path) {
  ebb_record_options options = EBB_INIT(ebb_record_options);
  options.mode = EBB_RECORD_FULL;
  options.path = path;
  options.name = "toy";
  must(ebb_record_start(&options));
  must(ebb_live_start(NULL));
  ebb_live_info live = EBB_INIT(ebb_live_info);
  must(ebb_live_read(&live));
  printf("recording to %s; viewers attach at %s\n", path, live.path);
}

void host_record_end(void) {
  must(ebb_live_stop()); /* before what they read goes away; ebb_record_stop would do it, too */
  must(ebb_record_stop());
}

/* ---- A tensor's life ------------------------------------------------------------------------- */

static object* adopt(host* h, size_t buffer, ebb_region region) {
  const int64_t dims[1] = {(int64_t)h->engine.bytes[buffer - 1]};
  ebb_foreign_spec spec = EBB_INIT(ebb_foreign_spec);
  spec.device = h->device;
  spec.key = buffer; /* tensors with the same key share the data: its bytes count once */
  spec.bytes = h->engine.bytes[buffer - 1];
  spec.tag = buffer; /* comes back in ebb_ended */
  spec.dtype = EBB_UINT8;
  spec.rank = 1;
  spec.dims = dims;
  spec.region = region;
  object* tensor = heap_make(&h->heap);
  if (tensor == NULL) fail("the language's heap is full");
  tensor->buffer = buffer;
  must(ebb_tensor_adopt(h->context, &spec, &tensor->tensor));
  return tensor;
}

object* host_tensor(host* h, size_t bytes, ebb_region region) {
  /* The safe point: no operation of the engine is running on this thread, so Ebb may end tensors
   * here. Under the budget it costs some nanoseconds; at the budget Ebb calls `collect`, `end`. */
  must(ebb_safe_point(h->context, h->device, bytes, 0, NULL));
  const size_t buffer = engine_make(&h->engine, bytes);
  if (buffer == 0) fail("the engine has no room");
  return adopt(h, buffer, region);
}

object* host_alias(host* h, const object* base) {
  engine_share(&h->engine, base->buffer);
  return adopt(h, base->buffer, 0);
}

void host_dispose(host* h, object* tensor) {
  /* Many at once would be one call; `end` is not called for what the host itself ends. */
  must(ebb_tensors_end(h->context, &tensor->tensor, 1, EBB_ENDED_DISPOSED));
  engine_release(&h->engine, tensor->buffer);
  tensor->tensor = 0;
}
