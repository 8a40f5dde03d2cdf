// The plug-in's one exported function, and the table behind it. Every function catches: nothing
// throws across this boundary, and a sticky error loses the device.
#include <cuda_runtime_api.h>

#include <memory>
#include <new>

#include "backends/cuda/plugin/copies.hpp"
#include "backends/cuda/plugin/device_state.hpp"
#include "backends/cuda/plugin/kernels/copy.cuh"
#include "ops/params/hash.hpp"

struct ebb_cuda_graph {
  ebb::cuda::DeviceState* device = nullptr;
  cudaGraphExec_t work = nullptr;
};

namespace ebb::cuda {
namespace {

thread_local std::string error_text;

ebb_cuda_status fail(ebb_cuda_status status, std::string_view text) noexcept {
  try {
    error_text = text;
  } catch (const std::bad_alloc&) {
    error_text.clear();
  }
  return status;
}

template <typename Body>
ebb_cuda_status guarded(Body&& body) noexcept {
  try {
    body();
    return EBB_CUDA_OK;
  } catch (const Failure& failure) {
    return fail(failure.status, failure.text);
  } catch (const std::bad_alloc&) {
    return fail(EBB_CUDA_NO_MEMORY, "no host memory for the plug-in's own records");
  } catch (const std::exception& error) {
    return fail(EBB_CUDA_FAILED, error.what());
  }
}

ebb_cuda_status lost(const DeviceState& device) noexcept {
  try {
    return fail(EBB_CUDA_LOST, device.loss());
  } catch (const std::bad_alloc&) {
    return fail(EBB_CUDA_LOST, "");
  }
}

// For functions of a device.
template <typename Body>
ebb_cuda_status on_device(DeviceState& device, Body&& body) noexcept {
  if (device.lost()) [[unlikely]]
    return lost(device);
  const ebb_cuda_status status = guarded([&] {
    device.enter();
    body();
  });
  if (status != EBB_CUDA_LOST) [[likely]]
    return status;
  try {
    device.lose(error_text);
  } catch (const std::bad_alloc&) {
    return status;
  }
  return lost(device);
}

const char* last_error() { return error_text.c_str(); }

// ---- devices

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string why_no_device(cudaError_t error) {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (driver == 0) return "no NVIDIA driver was found (libcuda.so.1 is not there or does not load)";
  if (driver < CUDART_VERSION && error == cudaErrorInsufficientDriver) {
    return "the NVIDIA driver serves CUDA " + version_text(driver) + ", " +
           version_text(CUDART_VERSION) + " is needed: install a newer driver";
  }
  if (error == cudaErrorNoDevice) return "the NVIDIA driver sees no GPU";
  return std::string("the NVIDIA driver refused: ") + cudaGetErrorString(error);
}

ebb_cuda_status device_count(int32_t* count) {
  int found = 0;
  const cudaError_t error = cudaGetDeviceCount(&found);
  if (error != cudaSuccess) {
    cudaGetLastError();
    return guarded([&] { throw Failure{EBB_CUDA_MISSING, why_no_device(error)}; });
  }
  *count = found;
  return EBB_CUDA_OK;
}

ebb_cuda_status device_open(int32_t ordinal, ebb_cuda_device** device) {
  return guarded([&] { *device = std::make_unique<ebb_cuda_device>(ordinal).release(); });
}

void device_close(ebb_cuda_device* device) { const std::unique_ptr<ebb_cuda_device> owned(device); }

ebb_cuda_status device_describe(ebb_cuda_device* device, ebb_cuda_device_info* info) {
  return on_device(device->state, [&] {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device->state.ordinal()), "describing the device");
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "describing the device");
    *info = {};
    const std::string_view name = properties.name;
    name.copy(info->name, sizeof(info->name) - 1);
    info->compute_major = properties.major;
    info->compute_minor = properties.minor;
    info->total_bytes = total;
    info->free_bytes = free;
    info->granule = device->state.addresses().granule();
  });
}

ebb_cuda_status device_state(ebb_cuda_device* device) {
  return device->state.lost() ? lost(device->state) : EBB_CUDA_OK;
}

// ---- the heap seam

void* reserve(ebb_cuda_device* device, uint64_t bytes) {
  void* base = nullptr;
  on_device(device->state, [&] { base = device->state.addresses().reserve(bytes); });
  return base;
}

void unreserve(ebb_cuda_device* device, void* base, uint64_t bytes) {
  on_device(device->state, [&] { device->state.addresses().unreserve(base, bytes); });
}

int commit(ebb_cuda_device* device, void* base, uint64_t bytes) {
  bool committed = false;
  on_device(device->state,
            [&] { committed = device->state.addresses().commit(base, bytes) == CUDA_SUCCESS; });
  return committed ? 1 : 0;
}

void decommit(ebb_cuda_device* device, void* base, uint64_t bytes) {
  on_device(device->state, [&] { device->state.addresses().decommit(base, bytes); });
}

ebb_cuda_status create_stream(ebb_cuda_device* device, uint32_t* stream) {
  return on_device(device->state, [&] { *stream = device->state.create_stream(); });
}

void destroy_stream(ebb_cuda_device* device, uint32_t stream) {
  on_device(device->state, [&] { device->state.destroy_stream(stream); });
}

uint64_t submitted(ebb_cuda_device* device, uint32_t stream) {
  return device->state.submitted(stream);
}

int record(ebb_cuda_device* device, uint32_t stream, uint64_t* ticket) {
  return on_device(device->state, [&] { *ticket = device->state.record(stream); }) == EBB_CUDA_OK
             ? 1
             : 0;
}

// A lost device does nothing any more: all its work is over.
int done(ebb_cuda_device* device, uint32_t stream, uint64_t ticket) {
  bool finished = false;
  const ebb_cuda_status status =
      on_device(device->state, [&] { finished = device->state.done(stream, ticket); });
  return finished || status == EBB_CUDA_LOST ? 1 : 0;
}

void wait(ebb_cuda_device* device, uint32_t stream, uint64_t ticket) {
  on_device(device->state, [&] { device->state.wait(stream, ticket); });
}

void order(ebb_cuda_device* device, uint32_t stream, uint32_t after_stream, uint64_t ticket) {
  on_device(device->state, [&] { device->state.order(stream, after_stream, ticket); });
}

// ---- copies

ebb_cuda_status table_copy_in(ebb_cuda_device* device, uint32_t stream, void* to, const void* host,
                              uint64_t bytes) {
  return on_device(device->state, [&] { copy_in(device->state, stream, to, host, bytes); });
}
ebb_cuda_status table_copy_out(ebb_cuda_device* device, uint32_t stream, void* host,
                               const void* from, uint64_t bytes) {
  return on_device(device->state, [&] { copy_out(device->state, stream, host, from, bytes); });
}
ebb_cuda_status table_copy_out_begin(ebb_cuda_device* device, uint32_t stream, void* pinned,
                                     const void* from, uint64_t bytes) {
  return on_device(device->state,
                   [&] { copy_out_begin(device->state, stream, pinned, from, bytes); });
}
ebb_cuda_status table_copy_within(ebb_cuda_device* device, uint32_t stream, void* to,
                                  const void* from, uint64_t bytes) {
  return on_device(device->state, [&] { copy_within(device->state, stream, to, from, bytes); });
}

ebb_cuda_status table_pack(ebb_cuda_device* device, uint32_t stream, void* to, const void* from,
                           uint32_t element, uint32_t rank, const int64_t* dims,
                           const int64_t* strides) {
  return on_device(device->state, [&] {
    pack(device->state.stream(stream), element, {dims, rank}, strides, from, to);
    device->state.note_queued(stream, 0);
  });
}

void* pinned_allocate(ebb_cuda_device* device, uint64_t bytes) {
  void* data = nullptr;
  on_device(device->state, [&] { data = device->state.pinned().allocate(bytes); });
  return data;
}
void pinned_free(ebb_cuda_device* device, void* pinned) { device->state.pinned().free(pinned); }
uint64_t pinned_bytes(ebb_cuda_device* device) { return device->state.pinned().committed(); }

// ---- operations

int has_kernel(uint32_t op) { return kernel_of(static_cast<ops::OpId>(op)) != nullptr ? 1 : 0; }

ebb_cuda_status run(ebb_cuda_call* call) {
  DeviceState& device = call->device->state;
  return on_device(device, [&] {
    const auto op = static_cast<ops::OpId>(call->op);
    const Kernel kernel = kernel_of(op);
    if (kernel == nullptr) throw Failure{EBB_CUDA_NO_KERNEL, "this plug-in has no kernel for it"};
    Call wrapped(*call);
    // Also after an error: a part of the work may have been queued.
    struct Noted {
      ~Noted() { device.note_queued(stream, op); }
      DeviceState& device;
      std::uint32_t stream;
      ops::OpId op;
    } const noted{device, call->stream, op};
    kernel(wrapped);
    check(cudaPeekAtLastError(), "a launch");
  });
}

// ---- capture and replay

ebb_cuda_status capture_begin(ebb_cuda_device* device, uint32_t stream) {
  return on_device(device->state, [&] { device->state.capture_begin(stream); });
}

ebb_cuda_status capture_end(ebb_cuda_device* device, uint32_t stream, ebb_cuda_graph** graph) {
  return on_device(device->state, [&] {
    cudaGraph_t captured = device->state.capture_end(stream);
    auto made = std::make_unique<ebb_cuda_graph>();
    made->device = &device->state;
    const cudaError_t error = cudaGraphInstantiate(&made->work, captured, 0);
    cudaGraphDestroy(captured);
    check(error, "preparing a captured graph");
    *graph = made.release();
  });
}

ebb_cuda_status graph_replay(ebb_cuda_graph* graph, uint32_t stream) {
  DeviceState& device = *graph->device;
  return on_device(device, [&] {
    check(cudaGraphLaunch(graph->work, device.stream(stream)), "a replay");
    device.note_queued(stream, 0);
  });
}

void graph_destroy(ebb_cuda_graph* graph) {
  const std::unique_ptr<ebb_cuda_graph> owned(graph);
  on_device(*graph->device, [&] { cudaGraphExecDestroy(graph->work); });
}

ebb_cuda_status set_option(ebb_cuda_device* device, const char* name, const char* value) {
  return on_device(device->state, [&] { device->state.set_option(name, value); });
}

constexpr ebb_cuda_table kTable{
    .size = sizeof(ebb_cuda_table),
    .version = EBB_CUDA_PLUGIN_VERSION,
    .op_table_hash = ops::table_hash(),
    .params_hash = ops::kParamsHash,
    .last_error = last_error,
    .device_count = device_count,
    .device_open = device_open,
    .device_close = device_close,
    .device_describe = device_describe,
    .device_state = device_state,
    .reserve = reserve,
    .unreserve = unreserve,
    .commit = commit,
    .decommit = decommit,
    .create_stream = create_stream,
    .destroy_stream = destroy_stream,
    .submitted = submitted,
    .record = record,
    .done = done,
    .wait = wait,
    .order = order,
    .copy_in = table_copy_in,
    .copy_out = table_copy_out,
    .copy_out_begin = table_copy_out_begin,
    .copy_within = table_copy_within,
    .pack = table_pack,
    .pinned_allocate = pinned_allocate,
    .pinned_free = pinned_free,
    .pinned_bytes = pinned_bytes,
    .has_kernel = has_kernel,
    .run = run,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .graph_replay = graph_replay,
    .graph_destroy = graph_destroy,
    .set_option = set_option,
};

}  // namespace
}  // namespace ebb::cuda

extern "C" [[gnu::visibility("default")]] const ebb_cuda_table* ebb_cuda_plugin(uint32_t version) {
  return version == EBB_CUDA_PLUGIN_VERSION ? &ebb::cuda::kTable : nullptr;
}
