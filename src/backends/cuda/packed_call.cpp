#include "backends/cuda/packed_call.hpp"

#include <algorithm>

#include "ebb/base/checked.hpp"
#include "ops/kernels.hpp"

namespace ebb::cuda {
namespace {

void fill(ebb_cuda_tensor& to, std::byte* data, DType dtype, const Shape& shape) noexcept {
  to.data = data;
  to.dtype = static_cast<std::uint32_t>(dtype);
  to.rank = static_cast<std::uint32_t>(shape.rank());
  to.dense = 1;
  to.reserved = 0;
  std::int64_t stride = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    to.dims[i] = shape.dims()[i];
    to.strides[i] = stride;
    stride = saturating_mul(stride, shape.dims()[i]);
  }
}

}  // namespace

PackedCall::PackedCall(ops::OpCall& call, CudaHeap& heap) : call_(call), heap_(heap) {
  pack_inputs();
  pack_outputs();
  packed_.size = sizeof(ebb_cuda_call);
  packed_.op = call.spec().id;
  packed_.device = heap.device();
  packed_.stream = call.place().stream;
  packed_.attribute_count = static_cast<std::uint32_t>(call.spec().attribute_count());
  packed_.attributes = call.attributes().data();
  packed_.attribute_offsets = call.attribute_offsets();
  packed_.params = call.raw_params().data();
  packed_.param_bytes = call.raw_params().size();
  packed_.services = &kServices;
  packed_.owner = this;
}

void PackedCall::pack_inputs() {
  const std::size_t count = call_.inputs();
  ebb_cuda_tensor* inputs = near_inputs_.data();
  if (count > kNear) {
    far_inputs_.resize(count);
    inputs = far_inputs_.data();
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!call_.has(i)) {
      inputs[i] = {};
      continue;
    }
    const Operand& operand = call_.input(i);
    ops::use_on_stream(operand.memory, call_.place().stream);
    fill(inputs[i], operand.data, operand.dtype, operand.shape);
    if (!operand.dense) [[unlikely]] {
      inputs[i].dense = 0;
      std::copy_n(operand.strides.begin(), operand.shape.rank(), inputs[i].strides);
    }
  }
  packed_.inputs = inputs;
  packed_.input_count = static_cast<std::uint32_t>(count);
}

void PackedCall::pack_outputs() {
  const std::size_t count = call_.outputs();
  ebb_cuda_tensor* outputs = near_outputs_.data();
  if (count > kNear) {
    far_outputs_.resize(count);
    outputs = far_outputs_.data();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const ops::Output& output = call_.output(i);
    fill(outputs[i], output.data, output.dtype, output.shape);
  }
  packed_.outputs = outputs;
  packed_.output_count = static_cast<std::uint32_t>(count);
}

ebb_cuda_tensor* PackedCall::make(ebb_cuda_call* call, std::uint32_t dtype, std::uint32_t rank,
                                  const std::int64_t* dims) {
  auto& self = *static_cast<PackedCall*>(call->owner);
  try {
    const ops::Output& made = self.call_.make(static_cast<DType>(dtype), Shape({dims, rank}));
    ebb_cuda_tensor& packed = self.late_outputs_.emplace_back();
    fill(packed, made.data, made.dtype, made.shape);
    return &packed;
  } catch (...) {
    self.error_ = std::current_exception();
    return nullptr;
  }
}

void* PackedCall::workspace(ebb_cuda_call* call, std::uint64_t bytes) {
  auto& self = *static_cast<PackedCall*>(call->owner);
  try {
    return self.call_.workspace(bytes);
  } catch (...) {
    self.error_ = std::current_exception();
    return nullptr;
  }
}

ebb_cuda_status PackedCall::run() {
  const ebb_cuda_status status = heap_.table().run(&packed_);
  if (status == EBB_CUDA_OK) [[likely]]  // also where a kernel did without what it was refused
    return status;
  if (error_ != nullptr) std::rethrow_exception(error_);
  if (status != EBB_CUDA_NO_KERNEL) heap_.check(status, call_.spec().name);
  return status;
}

}  // namespace ebb::cuda
