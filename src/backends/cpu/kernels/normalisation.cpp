// Batch normalisation by given statistics, local response normalisation.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/parallel.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::OpCall;

consteval std::size_t of_lrn(std::string_view name) {
  return ops::attribute_of_all(name, "LRN", "LRNGrad");
}

// An operand of batch normalisation, repeated along x.
struct Repeated {
  const float* values = nullptr;
  std::int64_t count = 1;
  float otherwise = 0;

  Repeated(const OpCall& call, std::size_t input, float without) : otherwise(without) {
    if (!call.has(input)) return;
    values = call.in<float>(input);
    count = ops::elements(call.input(input).shape);
  }
  float operator[](std::int64_t i) const noexcept {
    return values == nullptr ? otherwise : values[i % count];
  }
};

// (x - mean) * scale / sqrt(variance + epsilon) + offset, as x * factor + term once for each
// element of a period.
void batch_norm(OpCall& call) {
  const std::int64_t total = ops::elements(call.input(0).shape);
  if (total == 0) return;
  const Repeated mean(call, 1, 0);
  const Repeated variance(call, 2, 1);
  const Repeated offset(call, 3, 0);
  const Repeated scale(call, 4, 1);
  const auto epsilon =
      static_cast<float>(call.number(ops::attribute_at("FusedBatchNorm", "varianceEpsilon")));
  // Each divides x, so their least common multiple does as well.
  const std::int64_t period =
      std::lcm(std::lcm(mean.count, variance.count), std::lcm(offset.count, scale.count));
  auto* factors = call.workspace<float>(static_cast<std::uint64_t>(period));
  for (std::int64_t i = 0; i < period; ++i) {
    factors[i] = scale[i] / std::sqrt(variance[i] + epsilon);
  }
  const float* x = call.in<float>(0);
  float* y = call.out<float>(0);
  parallel_for(total / period, 32 * 1024 / period + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float* from = x + row * period;
      float* to = y + row * period;
      if (mean.count == period && offset.count == period && offset.values != nullptr) {
        for (std::int64_t i = 0; i < period; ++i) {
          to[i] = (from[i] - mean.values[i]) * factors[i] + offset.values[i];
        }
      } else {
        for (std::int64_t i = 0; i < period; ++i) {
          to[i] = (from[i] - mean[i]) * factors[i] + offset[i];
        }
      }
    }
  });
}

// Channels i - radius to i + radius, and what is normalised with their squares.
struct Neighbours {
  std::int64_t channels;
  std::int64_t radius;
  float bias;
  float alpha;
  float beta;

  explicit Neighbours(const OpCall& call)
      : channels(call.input(0).shape.dims()[3]),
        radius(std::min(call.integer(of_lrn("depthRadius")), channels)),
        bias(static_cast<float>(call.number(of_lrn("bias")))),
        alpha(static_cast<float>(call.number(of_lrn("alpha")))),
        beta(static_cast<float>(call.number(of_lrn("beta")))) {}

  std::int64_t first(std::int64_t c) const { return std::max<std::int64_t>(0, c - radius); }
  std::int64_t last(std::int64_t c) const { return std::min(channels, c + radius + 1); }
  float norm(const float* x, std::int64_t c) const {
    float sum = 0;
    for (std::int64_t k = first(c); k < last(c); ++k) sum += x[k] * x[k];
    return bias + alpha * sum;
  }
  // pixel(offset of the pixel's first channel) for each pixel.
  template <typename Pixel>
  void for_each_pixel(const OpCall& call, Pixel pixel) const {
    const std::int64_t total = ops::elements(call.input(0).shape);
    if (total == 0) return;
    parallel_for(total / channels, 2 * 1024 / channels + 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) pixel(i * channels);
                 });
  }
};

void local_response(OpCall& call) {
  const Neighbours near(call);
  near.for_each_pixel(call, [&](std::int64_t at) {
    const float* x = call.in<float>(0) + at;
    float* y = call.out<float>(0) + at;
    for (std::int64_t c = 0; c < near.channels; ++c) {
      y[c] = x[c] * std::pow(near.norm(x, c), -near.beta);
    }
  });
}

void local_response_gradient(OpCall& call) {
  const Neighbours near(call);
  near.for_each_pixel(call, [&](std::int64_t at) {
    const float* x = call.in<float>(0) + at;
    const float* y = call.in<float>(1) + at;
    const float* dy = call.in<float>(2) + at;
    float* dx = call.out<float>(0) + at;
    std::fill_n(dx, near.channels, 0.0F);
    for (std::int64_t c = 0; c < near.channels; ++c) {
      const float norm = near.norm(x, c);
      const float shared = -2 * near.alpha * near.beta * y[c] / norm * dy[c];
      for (std::int64_t k = near.first(c); k < near.last(c); ++k) dx[k] += shared * x[k];
      dx[c] += std::pow(norm, -near.beta) * dy[c];
    }
  });
}

}  // namespace

void add_normalisation(KernelTable& table) {
  table.set(ops::op_id("FusedBatchNorm"), batch_norm);
  table.set(ops::op_id("LRN"), local_response);
  table.set(ops::op_id("LRNGrad"), local_response_gradient);
}

}  // namespace ebb::cpu
