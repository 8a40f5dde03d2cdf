// Batch normalisation by given statistics.
#include "backends/cuda/plugin/kernels/both.cuh"
#include "backends/cuda/plugin/kernels/neural.hpp"

namespace ebb::cuda {
namespace {

// An operand of batch normalisation, repeated along x.
template <typename Index>
struct Repeated {
  const float* values;  // null: `otherwise` everywhere
  Index count;
  float otherwise;

  Repeated(const Call& call, std::size_t input, float without)
      : values(nullptr), count(1), otherwise(without) {
    if (!call.has(input)) return;
    values = call.in<float>(input);
    count = static_cast<Index>(elements(call.input(input)));
  }
  __device__ float operator[](Index i) const {
    return values == nullptr ? otherwise : __ldg(values + (count == 1 ? 0 : i % count));
  }
};

// (x - mean) * scale / sqrt(variance + epsilon) + offset
template <typename Index>
__global__ void normalise(const float* x, float* y, Index total, float epsilon,
                          Repeated<Index> mean, Repeated<Index> variance, Repeated<Index> offset,
                          Repeated<Index> scale) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    // Each step rounded for itself, as on the CPU and in a chain.
    const float factor = scale[i] / sqrtf(variance[i] + epsilon);
    const float scaled = product(x[i] - mean[i], factor);
    y[i] = offset.values == nullptr ? scaled : sum(scaled, offset[i]);
  }
}

template <typename Index>
void launch(Call& call, std::int64_t total) {
  normalise<Index><<<blocks_for(total), kThreads, 0, call.stream()>>>(
      call.in<float>(0), call.out<float>(0), static_cast<Index>(total),
      static_cast<float>(call.number(ops::attribute_at("FusedBatchNorm", "varianceEpsilon"))),
      Repeated<Index>(call, 1, 0.0F), Repeated<Index>(call, 2, 1.0F),
      Repeated<Index>(call, 3, 0.0F), Repeated<Index>(call, 4, 1.0F));
  launched("batch normalisation");
}

void batch_norm(Call& call) {
  const std::int64_t total = elements(call.input(0));
  if (total == 0) return;
  return fits_32_bits(total) ? launch<std::uint32_t>(call, total)
                             : launch<std::int64_t>(call, total);
}

EBB_CUDA_KERNEL(FusedBatchNorm, batch_norm);

}  // namespace
}  // namespace ebb::cuda
