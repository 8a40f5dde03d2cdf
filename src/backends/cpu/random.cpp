// Random numbers. The generator is the standard's Mersenne twister; what is made of its bits is
// written here, because the standard's distributions differ between libraries.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "backends/cpu/element.hpp"
#include "backends/cpu/families.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

class Source {
 public:
  explicit Source(double seed) : bits_(std::bit_cast<std::uint64_t>(seed)) {}

  // In [0, 1).
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }

  // By Box and Muller: two from two.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  std::mt19937_64 bits_;
  double spare_ = 0;
  bool has_spare_ = false;
};

template <typename T>
inline constexpr bool kIsWhole = std::is_integral_v<T> || std::is_same_v<T, Bool>;

// A number of [low, high): rounding to T must not reach the end.
template <typename T>
T in_range(double value, double low, double high) noexcept {
  if constexpr (kIsWhole<T>) value = std::floor(value);
  const T stored = convert<T>(value);
  if constexpr (!kIsWhole<T>) {
    if (convert<double>(stored) >= high) return convert<T>(low);
  }
  return stored;
}

void uniform(OpCall& call) {
  Source source(call.number(4));
  const double low = call.number(1), high = call.number(2);
  visit(call.output(0).dtype, [&]<typename T>(Type<T>) {
    if constexpr (!kIsComplex<T>) {
      std::generate_n(call.out<T>(0), ops::elements(call.output(0).shape), [&] {
        return in_range<T>(low + (high - low) * source.uniform(), low, high);
      });
    }
  });
}

void normal(OpCall& call) {
  Source source(call.number(5));
  const double mean = call.number(1), deviation = call.number(2);
  const bool truncated = call.boolean(4);
  visit(call.output(0).dtype, [&]<typename T>(Type<T>) {
    std::generate_n(call.out<T>(0), ops::elements(call.output(0).shape), [&] {
      double value = source.normal();
      while (truncated && std::abs(value) > 2) value = source.normal();
      return convert<T>(kIsWhole<T> ? std::round(mean + deviation * value) : mean + deviation * value);
    });
  });
}

// Outcomes' running sums, of probabilities or of exp(logit).
void running_sums(const float* row, std::int64_t outcomes, bool normalized, double* sums) noexcept {
  const float highest = *std::max_element(row, row + outcomes);
  double sum = 0;
  for (std::int64_t i = 0; i < outcomes; ++i) {
    sum += normalized ? double{row[i]} : std::exp(double{row[i]} - highest);
    sums[i] = sum;
  }
}

void multinomial(OpCall& call) {
  const std::int64_t rows = call.input(0).shape.dims()[0], outcomes = call.input(0).shape.dims()[1];
  const std::int64_t samples = call.integer(0);
  if (rows * samples == 0) return;
  auto* sums = reinterpret_cast<double*>(
      call.workspace(static_cast<std::uint64_t>(outcomes) * sizeof(double)));
  auto* out = call.out<std::int32_t>(0);
  Source source(call.number(1));
  for (std::int64_t row = 0; row < rows; ++row) {
    running_sums(call.in<float>(0) + row * outcomes, outcomes, call.boolean(2), sums);
    out = std::generate_n(out, samples, [&] {
      const double at = source.uniform() * sums[outcomes - 1];
      // The last outcome is what is left, also where the sums are not a number.
      const double* found = std::upper_bound(sums, sums + outcomes - 1, at);
      return static_cast<std::int32_t>(found - sums);
    });
  }
}

}  // namespace

void add_random(KernelTable& kernels) {
  kernels.set(op_id("RandomUniform"), uniform);
  kernels.set(op_id("RandomNormal"), normal);
  kernels.set(op_id("Multinomial"), multinomial);
}

}  // namespace ebb::cpu
