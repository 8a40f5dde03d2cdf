#include "backends/cuda/plugin/kernel.hpp"

#include <array>

#include "backends/cuda/plugin/device_state.hpp"
#include "ops/params/program_ops.hpp"

namespace ebb::cuda {
namespace {

constinit std::array<Kernel, ops::kProgramOpLimit> kernels{};

// After these CUDA answers every call of the process with the same error.
bool sticky(cudaError_t error) noexcept {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorDevicesUnavailable:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

ebb_cuda_status status_of(cudaError_t error) noexcept {
  if (error == cudaErrorMemoryAllocation) return EBB_CUDA_NO_MEMORY;
  return sticky(error) ? EBB_CUDA_LOST : EBB_CUDA_FAILED;
}

}  // namespace

void check(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) [[likely]]
    return;
  cudaGetLastError();  // or the next call would find it again
  throw Failure{status_of(error), std::string(what) + ": " + cudaGetErrorString(error) + " (" +
                                      cudaGetErrorName(error) + ")"};
}

std::size_t checked_product(std::initializer_list<std::size_t> sizes) {
  std::size_t product = 1;
  for (const std::size_t size : sizes) {
    if (__builtin_mul_overflow(product, size, &product)) {
      throw Failure{EBB_CUDA_NO_MEMORY, "a workspace of more than 2^64 bytes"};
    }
  }
  return product;
}

DeviceState& Call::device() const noexcept { return call_.device->state; }
cudaStream_t Call::stream() const noexcept { return device().stream(call_.stream); }

void* Call::raw_workspace(std::uint64_t bytes) {
  void* data = call_.services->workspace(&call_, bytes);
  if (data == nullptr) throw Failure{EBB_CUDA_NO_MEMORY, "no memory for a workspace"};
  return data;
}

ebb_cuda_tensor& Call::make(DType dtype, std::span<const std::int64_t> dims) {
  ebb_cuda_tensor* made =
      call_.services->make(&call_, static_cast<std::uint32_t>(dtype),
                           static_cast<std::uint32_t>(dims.size()), dims.data());
  if (made == nullptr) throw Failure{EBB_CUDA_NO_MEMORY, "no memory for a result"};
  return *made;
}

Kernel kernel_of(ops::OpId op) noexcept { return op < kernels.size() ? kernels[op] : nullptr; }

Registration::Registration(ops::OpId op, Kernel kernel) noexcept { kernels[op] = kernel; }

}  // namespace ebb::cuda
