// How a kernel of the plug-in is written and found.
//
//   void relu(Call& call) { ... launch on call.stream() ... }
//   EBB_CUDA_KERNEL(Relu, relu);
//
// A kernel throws Failure; the plug-in's run() turns it into a status. It queues its work on
// call.stream() and returns; it never waits for the device, except where an output's shape depends
// on data (call.make) or the data decides between an error and none; then it waits for its own
// stream only.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "backends/cuda/plugin.h"
#include "ebb/base/dtype.hpp"
#include "ebb/ops/table.hpp"

namespace ebb::cuda {

class DeviceState;  // device_state.hpp: streams, events, library handles of one GPU

// Thrown by kernels and by the helpers below, nowhere else caught but in the table's functions.
struct Failure {
  ebb_cuda_status status;
  std::string text;
};

// Throws Failure: out of memory, failed, or lost where the error is sticky.
void check(cudaError_t error, std::string_view what);

// Of sizes of workspaces. Throws Failure where it does not fit.
std::size_t checked_product(std::initializer_list<std::size_t> sizes);

class Call {
 public:
  explicit Call(ebb_cuda_call& call) noexcept : call_(call) {}

  ops::OpId op() const noexcept { return call_.op; }
  DeviceState& device() const noexcept;
  cudaStream_t stream() const noexcept;

  std::size_t inputs() const noexcept { return call_.input_count; }
  bool has(std::size_t i) const noexcept {
    return i < call_.input_count && call_.inputs[i].data != nullptr;
  }
  const ebb_cuda_tensor& input(std::size_t i) const noexcept { return call_.inputs[i]; }
  ebb_cuda_tensor& output(std::size_t i) const noexcept { return call_.outputs[i]; }
  template <typename T>
  const T* in(std::size_t i) const noexcept {
    return static_cast<const T*>(call_.inputs[i].data);
  }
  template <typename T>
  T* out(std::size_t i) const noexcept {
    return static_cast<T*>(call_.outputs[i].data);
  }

  // Attributes, by their position in the table.
  double number(std::size_t i) const noexcept {
    return call_.attributes[call_.attribute_offsets[i]];
  }
  std::int64_t integer(std::size_t i) const noexcept {
    return static_cast<std::int64_t>(number(i));
  }
  bool boolean(std::size_t i) const noexcept { return number(i) != 0; }
  std::span<const double> numbers(std::size_t i) const noexcept {
    const double* list = call_.attributes + call_.attribute_offsets[i];
    return {list + 1, static_cast<std::size_t>(*list)};
  }

  // What the meaning worked out: a struct of src/ops/params.
  template <typename T>
  const T& params() const noexcept {
    return *static_cast<const T*>(call_.params);
  }

  // Device memory until the work queued by this call is done. Throws Failure.
  template <typename T = std::byte>
  T* workspace(std::size_t count) {
    return static_cast<T*>(raw_workspace(checked_product({count, sizeof(T)})));
  }
  // The next output, where its shape depends on data. Throws Failure.
  ebb_cuda_tensor& make(DType dtype, std::span<const std::int64_t> dims);

 private:
  void* raw_workspace(std::uint64_t bytes);

  ebb_cuda_call& call_;
};

inline std::int64_t elements(const ebb_cuda_tensor& tensor) noexcept {
  std::int64_t product = 1;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) product *= tensor.dims[i];
  return product;
}
inline DType dtype_of(const ebb_cuda_tensor& tensor) noexcept {
  return static_cast<DType>(tensor.dtype);
}

using Kernel = void (*)(Call&);

// By id; null where there is none. Filled before main by the registrations below.
Kernel kernel_of(ops::OpId op) noexcept;

struct Registration {
  Registration(ops::OpId op, Kernel kernel) noexcept;
};

}  // namespace ebb::cuda

// A name that is not in the table of operations does not compile.
#define EBB_CUDA_KERNEL(name, function) \
  static const ::ebb::cuda::Registration ebb_registered_##name(::ebb::ops::op_id(#name), function)
