// Tensors from numbers alone, and random ones.
#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/copy.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "ops/axes.hpp"
#include "ops/copy_plan.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

void fill_all(OpCall& call, double value) {
  ops::Output& out = call.output(0);
  fill(out.dtype, out.data, ops::elements(out.shape), value);
}

void fill_with(OpCall& call) { fill_all(call, call.number(ops::attribute_at("Fill", "value"))); }
void zeros_like(OpCall& call) { fill_all(call, 0); }
void ones_like(OpCall& call) { fill_all(call, 1); }

// out[i] = value_at(i)
template <typename ValueAt>
void each(OpCall& call, ValueAt value_at) {
  ops::Output& out = call.output(0);
  const std::int64_t count = ops::elements(out.shape);
  visit(out.dtype, [&]<typename T>(Type<T>) {
    T* to = call.out<T>(0);
    for (std::int64_t i = 0; i < count; ++i) to[i] = convert<T>(value_at(i));
  });
}

void lin_space(OpCall& call) {
  const double start = call.number(ops::attribute_at("LinSpace", "start")),
               stop = call.number(ops::attribute_at("LinSpace", "stop"));
  const std::int64_t count = call.integer(ops::attribute_at("LinSpace", "num"));
  const double step = count == 1 ? 0 : (stop - start) / static_cast<double>(count - 1);
  each(call, [&](std::int64_t i) { return start + step * static_cast<double>(i); });
}

void range(OpCall& call) {
  const double start = call.number(ops::attribute_at("Range", "start"));
  double step = call.number(ops::attribute_at("Range", "step"));
  if (call.number(ops::attribute_at("Range", "stop")) < start && step == 1) step = -1;
  each(call, [&](std::int64_t i) { return start + step * static_cast<double>(i); });
}

void one_hot(OpCall& call) {
  const std::int64_t depth = call.integer(ops::attribute_at("OneHot", "depth")),
                     count = ops::elements(call.input(0).shape);
  const std::int32_t* indices = call.in<std::int32_t>(0);
  fill_all(call, call.number(ops::attribute_at("OneHot", "offValue")));
  visit(call.output(0).dtype, [&]<typename T>(Type<T>) {
    const T on = convert<T>(call.number(ops::attribute_at("OneHot", "onValue")));
    for (std::int64_t i = 0; i < count; ++i) {
      if (indices[i] >= 0 && indices[i] < depth) call.out<T>(0)[i * depth + indices[i]] = on;
    }
  });
}

void eye(OpCall& call) {
  const std::int64_t rows = call.integer(ops::attribute_at("Eye", "rows")),
                     columns = call.integer(ops::attribute_at("Eye", "columns"));
  fill_all(call, 0);
  visit(call.output(0).dtype, [&]<typename T>(Type<T>) {
    for (std::int64_t i = 0; i < std::min(rows, columns); ++i) {
      call.out<T>(0)[i * columns + i] = convert<T>(1.0);
    }
  });
}

// A seed of 0 is a new one each time.
std::mt19937_64 generator(double seed) {
  if (seed == 0) return std::mt19937_64(std::random_device()());
  return std::mt19937_64(std::bit_cast<std::uint64_t>(seed));
}

void random_uniform(OpCall& call) {
  const double low = call.number(ops::attribute_at("RandomUniform", "low")),
               high = call.number(ops::attribute_at("RandomUniform", "high"));
  auto random = generator(call.number(ops::attribute_at("RandomUniform", "seed")));
  std::uniform_real_distribution<double> unit(0, 1);
  each(call, [&](std::int64_t) { return low + (high - low) * unit(random); });
}

void random_normal(OpCall& call) {
  const double mean = call.number(ops::attribute_at("RandomNormal", "mean")),
               deviation = call.number(ops::attribute_at("RandomNormal", "standardDeviation"));
  const bool truncated = call.boolean(ops::attribute_at("RandomNormal", "truncated"));
  auto random = generator(call.number(ops::attribute_at("RandomNormal", "seed")));
  std::normal_distribution<double> normal(0, 1);
  each(call, [&](std::int64_t) {
    double value = normal(random);
    while (truncated && std::abs(value) > 2) value = normal(random);
    return mean + deviation * value;
  });
}

// The sums of the probabilities up to each class, the last of them the sum of all.
void cumulate(const float* logits, bool normalized, std::vector<double>& sums) {
  const auto count = static_cast<std::ptrdiff_t>(sums.size());
  const double most = normalized ? 0 : *std::max_element(logits, logits + count);
  double sum = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sum += normalized ? logits[i] : std::exp(logits[i] - most);
    sums[i] = sum;
  }
}

void multinomial(OpCall& call) {
  const Shape& shape = call.input(0).shape;
  const std::int64_t batch = shape.dims()[0],
                     samples = call.integer(ops::attribute_at("Multinomial", "numSamples"));
  std::vector<double> sums(static_cast<std::size_t>(shape.dims()[1]));
  auto random = generator(call.number(ops::attribute_at("Multinomial", "seed")));
  std::int32_t* out = call.out<std::int32_t>(0);
  for (std::int64_t b = 0; b < batch; ++b) {
    cumulate(call.in<float>(0) + b * shape.dims()[1],
             call.boolean(ops::attribute_at("Multinomial", "normalized")), sums);
    std::uniform_real_distribution<double> unit(0, sums.back());
    for (std::int64_t i = 0; i < samples; ++i) {
      const auto at = std::upper_bound(sums.begin(), sums.end() - 1, unit(random));
      *out++ = static_cast<std::int32_t>(at - sums.begin());
    }
  }
}

void complex(OpCall& call) {
  const Shape& shape = call.output(0).shape;
  Strides to = dense_strides(shape);
  for (std::int64_t& step : to) step *= 2;  // in floats
  for (std::size_t i = 0; i < 2; ++i) {
    ops::CopyPlan plan{.to_offset = static_cast<std::int64_t>(i)};
    plan.add(shape, ops::strides_of(call.input(i)), to);
    plan.simplify();
    copy(plan, sizeof(float), call.input(i).data, call.output(0).data);
  }
}

}  // namespace

void add_creation(KernelTable& kernels) {
  kernels.set(op_id("Fill"), fill_with);
  kernels.set(op_id("LinSpace"), lin_space);
  kernels.set(op_id("Range"), range);
  kernels.set(op_id("OneHot"), one_hot);
  kernels.set(op_id("OnesLike"), ones_like);
  kernels.set(op_id("ZerosLike"), zeros_like);
  kernels.set(op_id("Eye"), eye);
  kernels.set(op_id("RandomUniform"), random_uniform);
  kernels.set(op_id("RandomNormal"), random_normal);
  kernels.set(op_id("Multinomial"), multinomial);
  kernels.set(op_id("Complex"), complex);
}

}  // namespace ebb::cpu
