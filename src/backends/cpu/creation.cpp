// Tensors from numbers alone, and random ones.
#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "backends/cpu/copy.hpp"
#include "backends/cpu/element.hpp"
#include "backends/cpu/families.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

void fill_all(OpCall& call, double value) {
  ops::Output& out = call.output(0);
  fill(out.dtype, out.data, ops::elements(out.shape), value);
}

void fill_with(OpCall& call) { fill_all(call, call.number(1)); }
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
  const double start = call.number(0), stop = call.number(1);
  const std::int64_t count = call.integer(2);
  const double step = count == 1 ? 0 : (stop - start) / static_cast<double>(count - 1);
  each(call, [&](std::int64_t i) { return start + step * static_cast<double>(i); });
}

void range(OpCall& call) {
  const double start = call.number(0);
  double step = call.number(2);
  if (call.number(1) < start && step == 1) step = -1;
  each(call, [&](std::int64_t i) { return start + step * static_cast<double>(i); });
}

void one_hot(OpCall& call) {
  const std::int64_t depth = call.integer(0), count = ops::elements(call.input(0).shape);
  const std::int32_t* indices = call.in<std::int32_t>(0);
  fill_all(call, call.number(2));
  visit(call.output(0).dtype, [&]<typename T>(Type<T>) {
    const T on = convert<T>(call.number(1));
    for (std::int64_t i = 0; i < count; ++i) {
      if (indices[i] >= 0 && indices[i] < depth) call.out<T>(0)[i * depth + indices[i]] = on;
    }
  });
}

void eye(OpCall& call) {
  const std::int64_t rows = call.integer(0), columns = call.integer(1);
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
  const double low = call.number(1), high = call.number(2);
  auto random = generator(call.number(4));
  std::uniform_real_distribution<double> unit(0, 1);
  each(call, [&](std::int64_t) { return low + (high - low) * unit(random); });
}

void random_normal(OpCall& call) {
  const double mean = call.number(1), deviation = call.number(2);
  const bool truncated = call.boolean(4);
  auto random = generator(call.number(5));
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
  const std::int64_t batch = shape.dims()[0], samples = call.integer(0);
  std::vector<double> sums(static_cast<std::size_t>(shape.dims()[1]));
  auto random = generator(call.number(1));
  std::int32_t* out = call.out<std::int32_t>(0);
  for (std::int64_t b = 0; b < batch; ++b) {
    cumulate(call.in<float>(0) + b * shape.dims()[1], call.boolean(2), sums);
    std::uniform_real_distribution<double> unit(0, sums.back());
    for (std::int64_t i = 0; i < samples; ++i) {
      const auto at = std::upper_bound(sums.begin(), sums.end() - 1, unit(random));
      *out++ = static_cast<std::int32_t>(at - sums.begin());
    }
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
}

}  // namespace ebb::cpu
