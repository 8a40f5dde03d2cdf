// Installs GPUs as a kind of device when the library is loaded. The plug-in is opened when the
// first of them is asked for; its kernels, and the operations that run on the host, are then what
// such devices compute with.
#include <mutex>

#include "backends/backend.hpp"
#include "backends/cuda/cuda_heap.hpp"
#include "backends/cuda/host_operations.hpp"
#include "backends/cuda/packed_call.hpp"
#include "backends/cuda/plugin_library.hpp"
#include "ebb/memory/device.hpp"
#include "ops/params/chain.hpp"
#include "ops/params/program_ops.hpp"

namespace ebb::cuda {
namespace {

bool on_the_list(const ops::OpSpec& spec) noexcept {
  for (const HostOperation& each : host_operations()) {
    if (each.name == spec.name) return true;
  }
  return false;
}

void run_on_device(ops::OpCall& call) {
  auto& heap = static_cast<CudaHeap&>(*call.device().heap());
  if (PackedCall(call, heap).run() == EBB_CUDA_OK) [[likely]]
    return;
  if (!on_the_list(call.spec())) heap.check(EBB_CUDA_NO_KERNEL, call.spec().name);
  run_on_host(call);
}

const backends::KernelTable& kernels_of(const ebb_cuda_table& plugin) {
  static std::mutex mutex;
  static std::vector<std::pair<const ebb_cuda_table*, std::unique_ptr<backends::KernelTable>>> made;
  const std::lock_guard lock(mutex);
  for (const auto& [table, kernels] : made) {
    if (table == &plugin) return *kernels;
  }
  auto kernels = std::make_unique<backends::KernelTable>();
  for (const ops::OpSpec& spec : ops::kTable) {
    if (plugin.has_kernel(spec.id) != 0) {
      kernels->set(spec.id, run_on_device);
    } else if (on_the_list(spec)) {
      kernels->set(spec.id, run_on_host);
    }
  }
  for (const ops::OpId op : {ops::kChain, ops::kNormFactors, ops::kNormedConvolution,
                             ops::kNormedDepthwise, ops::kRowNorm}) {
    if (plugin.has_kernel(op) != 0) kernels->set(op, run_on_device);
  }
  return *made.emplace_back(&plugin, std::move(kernels)).second;
}

std::unique_ptr<Heap> make_heap(const DeviceOptions& options) {
  const ebb_cuda_table* plugin = nullptr;
  try {
    plugin = &PluginLibrary::table();
  } catch (const Error& error) {
    raise(error.kind(), "[device] {} is not there: {}", options.name, error.what());
  }
  auto heap = std::make_unique<CudaHeap>(*plugin, options.name);
  ops::install_kernels(DeviceKind::kCuda, kernels_of(*plugin));
  return heap;
}

}  // namespace
}  // namespace ebb::cuda

// The name under which a static build pulls this file in.
extern "C" const bool ebb_cuda_devices;
const bool ebb_cuda_devices = [] {
  ebb::install_heap_maker(ebb::DeviceKind::kCuda, ebb::cuda::make_heap);
  return true;
}();
