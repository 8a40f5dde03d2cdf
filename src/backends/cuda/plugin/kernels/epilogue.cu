#include "backends/cuda/plugin/kernels/epilogue.hpp"
#include "backends/cuda/plugin/kernels/finish.cuh"
#include "backends/cuda/plugin/kernels/neural.hpp"

namespace ebb::cuda {
namespace {

using ops::Activation;
using ops::Broadcast;

struct Operand {
  const float* values = nullptr;  // null: none
  std::int64_t strides[EBB_CUDA_MAX_RANK] = {};
};

struct Work {
  float* result;
  std::int64_t count;
  std::int64_t columns;
  Activation activation;
  float alpha;
  int rank;
  std::int64_t dims[EBB_CUDA_MAX_RANK];
  Operand bias;
  Operand slope;
};

// No operand beside the result, or a bias for each column.
template <typename Index>
__global__ void finish_columns(Work work) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  const Index columns = static_cast<Index>(work.columns);
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < static_cast<Index>(work.count); i += step) {
    float value = work.result[i];
    if (work.bias.values != nullptr) value += __ldg(work.bias.values + i % columns);
    work.result[i] = activated(work.activation, value, work.alpha, 0.0F);
  }
}

// Four at once: no operand beside the result.
__global__ void finish_plain(float4* result, std::int64_t count, Activation activation,
                             float alpha) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    float4 v = result[i];
    v.x = activated(activation, v.x, alpha, 0.0F);
    v.y = activated(activation, v.y, alpha, 0.0F);
    v.z = activated(activation, v.z, alpha, 0.0F);
    v.w = activated(activation, v.w, alpha, 0.0F);
    result[i] = v;
  }
}

__global__ void finish_any(Work work) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < work.count; i += step) {
    std::int64_t rest = i;
    std::int64_t bias_at = 0;
    std::int64_t slope_at = 0;
    for (int axis = work.rank; axis-- > 0;) {
      const std::int64_t at = rest % work.dims[axis];
      rest /= work.dims[axis];
      bias_at += at * work.bias.strides[axis];
      slope_at += at * work.slope.strides[axis];
    }
    float value = work.result[i];
    if (work.bias.values != nullptr) value += work.bias.values[bias_at];
    const float slope = work.slope.values != nullptr ? work.slope.values[slope_at] : 0.0F;
    work.result[i] = activated(work.activation, value, work.alpha, slope);
  }
}

__global__ void __launch_bounds__(kThreads)
    finish_normed(float* result, std::int64_t count, std::int64_t channels, Finish finish) {
  for (std::int64_t i = first(); i < count; i += all()) {
    result[i] = finished(finish, numbers_of(finish, ask_for(finish, i % channels)), result[i], i);
  }
}

void take(const Call& call, std::size_t input, const Broadcast& from, Operand& to) {
  to.values = call.in<float>(input);
  for (std::uint32_t i = 0; i < call.output(0).rank; ++i) to.strides[i] = from.strides[i];
}

void launch(Call& call, const Work& work, bool by_column) {
  const bool whole = work.count % 4 == 0 && reinterpret_cast<std::uintptr_t>(work.result) % 16 == 0;
  if (!by_column) {
    finish_any<<<blocks_for(work.count), kThreads, 0, call.stream()>>>(work);
  } else if (work.bias.values == nullptr && whole) {
    finish_plain<<<blocks_for(work.count / 4), kThreads, 0, call.stream()>>>(
        reinterpret_cast<float4*>(work.result), work.count / 4, work.activation, work.alpha);
  } else if (fits_32_bits(work.count)) {
    finish_columns<std::uint32_t><<<blocks_for(work.count), kThreads, 0, call.stream()>>>(work);
  } else {
    finish_columns<std::int64_t><<<blocks_for(work.count), kThreads, 0, call.stream()>>>(work);
  }
  launched("epilogue");
}

}  // namespace

bool is_per_column(const Broadcast& operand, const ebb_cuda_tensor& result) noexcept {
  for (std::uint32_t axis = 0; axis + 1 < result.rank; ++axis) {
    if (operand.strides[axis] != 0 && result.dims[axis] != 1) return false;
  }
  return operand.strides[result.rank - 1] == 1;
}

bool is_whole(const Broadcast& operand, const ebb_cuda_tensor& result) noexcept {
  std::int64_t step = 1;
  for (std::uint32_t axis = result.rank; axis-- > 0;) {
    if (result.dims[axis] != 1 && operand.strides[axis] != step) return false;
    step *= result.dims[axis];
  }
  return true;
}

void apply_norm(Call& call, const Finish& finish) {
  const ebb_cuda_tensor& result = call.output(0);
  const std::int64_t count = elements(result);
  finish_normed<<<blocks_for(count), kThreads, 0, call.stream()>>>(
      call.out<float>(0), count, result.dims[result.rank - 1], finish);
  launched("a normalisation");
}

void apply_epilogue(Call& call, const ops::Epilogue& epilogue, bool bias_done) {
  const ebb_cuda_tensor& result = call.output(0);
  const bool bias = epilogue.bias.given && !bias_done;
  const bool prelu = epilogue.activation == Activation::kPrelu;
  if (elements(result) == 0 || (!bias && epilogue.activation == Activation::kLinear)) return;
  Work work{};
  work.result = call.out<float>(0);
  work.count = elements(result);
  work.columns = result.dims[result.rank - 1];
  work.activation = epilogue.activation;
  work.alpha = epilogue.alpha;
  work.rank = static_cast<int>(result.rank);
  for (std::uint32_t i = 0; i < result.rank; ++i) work.dims[i] = result.dims[i];
  if (bias) take(call, 2, epilogue.bias, work.bias);
  if (prelu) take(call, 3, epilogue.slope, work.slope);
  launch(call, work, !prelu && (!bias || is_per_column(epilogue.bias, result)));
}

}  // namespace ebb::cuda
