// Local response normalisation and its gradient: sums of squares over neighbouring channels.
#include "backends/cuda/plugin/kernels/neural.hpp"

namespace ebb::cuda {
namespace {

consteval std::size_t of_lrn(std::string_view name) {
  return ops::attribute_of_all(name, "LRN", "LRNGrad");
}

// Channels i - radius to i + radius, and what is normalised with their squares.
struct Neighbours {
  std::int64_t total;
  std::int64_t channels;
  std::int64_t radius;
  float bias;
  float alpha;
  float beta;

  explicit Neighbours(const Call& call)
      : total(elements(call.input(0))),
        channels(call.input(0).dims[3]),
        radius(std::min(call.integer(of_lrn("depthRadius")), channels)),
        bias(static_cast<float>(call.number(of_lrn("bias")))),
        alpha(static_cast<float>(call.number(of_lrn("alpha")))),
        beta(static_cast<float>(call.number(of_lrn("beta")))) {}

  __device__ std::int64_t first(std::int64_t c) const { return max(std::int64_t{0}, c - radius); }
  __device__ std::int64_t last(std::int64_t c) const { return min(channels, c + radius + 1); }
  // `x`: the pixel's channels.
  __device__ float norm(const float* x, std::int64_t c) const {
    float sum = 0.0F;
    for (std::int64_t k = first(c); k < last(c); ++k) sum += x[k] * x[k];
    return bias + alpha * sum;
  }
};

__device__ inline std::int64_t first_element() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t grid_step() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

__global__ void respond(Neighbours near, const float* x, float* y) {
  for (std::int64_t i = first_element(); i < near.total; i += grid_step()) {
    const std::int64_t c = i % near.channels;
    y[i] = x[i] * powf(near.norm(x + (i - c), c), -near.beta);
  }
}

__global__ void respond_gradient(Neighbours near, const float* x, const float* y, const float* dy,
                                 float* dx) {
  for (std::int64_t i = first_element(); i < near.total; i += grid_step()) {
    const std::int64_t own = i % near.channels;
    const std::int64_t pixel = i - own;
    float sum = 0.0F;
    for (std::int64_t c = near.first(own); c < near.last(own); ++c) {
      const float norm = near.norm(x + pixel, c);
      sum += -2 * near.alpha * near.beta * y[pixel + c] / norm * dy[pixel + c] * x[i];
      if (c == own) sum += powf(norm, -near.beta) * dy[i];
    }
    dx[i] = sum;
  }
}

void local_response(Call& call) {
  const Neighbours near(call);
  if (near.total == 0) return;
  respond<<<blocks_for(near.total), kThreads, 0, call.stream()>>>(near, call.in<float>(0),
                                                                  call.out<float>(0));
  launched("local response");
}

void local_response_gradient(Call& call) {
  const Neighbours near(call);
  if (near.total == 0) return;
  respond_gradient<<<blocks_for(near.total), kThreads, 0, call.stream()>>>(
      near, call.in<float>(0), call.in<float>(1), call.in<float>(2), call.out<float>(0));
  launched("local response's gradient");
}

EBB_CUDA_KERNEL(LRN, local_response);
EBB_CUDA_KERNEL(LRNGrad, local_response_gradient);

}  // namespace
}  // namespace ebb::cuda
