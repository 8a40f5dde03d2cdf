// From the number of an element to where its operands have theirs: strides and broadcasting.
//
// Numbers and offsets have 32 bits in a kernel. Loops that need more are cut in halves along their
// outer axes, and each part is launched with its own base pointers.
#pragma once

#include "backends/cuda/plugin/kernels/both.cuh"

namespace ebb::cuda {

// n / divisor by a multiplication; n < 2^31.
struct Divisor {
  std::uint32_t value = 1, multiplier = 1, shift = 0;

  Divisor() = default;
  explicit Divisor(std::uint32_t divisor) : value(divisor) {
    while (shift < 32 && (std::uint64_t{1} << shift) < divisor) ++shift;
    const std::uint64_t rest = (std::uint64_t{1} << shift) - divisor;
    multiplier = static_cast<std::uint32_t>((rest << 32) / divisor + 1);
  }
  EBB_BOTH std::uint32_t divide(std::uint32_t n) const {
#ifdef __CUDA_ARCH__
    const std::uint32_t high = __umulhi(n, multiplier);
#else
    const auto high = static_cast<std::uint32_t>((std::uint64_t{n} * multiplier) >> 32);
#endif
    return (high + n) >> shift;
  }
};

inline constexpr int kMostAxes = 12;

// As the host plans it: `kOperands` along `axes`, the last of them the inner one.
template <int kOperands>
struct Plan {
  int axes = 0;
  std::int64_t extent[kMostAxes] = {};
  std::int64_t step[kOperands][kMostAxes] = {};

  std::int64_t elements() const {
    std::int64_t product = 1;
    for (int i = 0; i < axes; ++i) product *= extent[i];
    return product;
  }
  // Adds an axis outside of those before; joins it with the last where every operand goes on.
  // Pre: called from the inner axis to the outer one, then reverse().
  void add_outer(std::int64_t count, const std::int64_t (&steps)[kOperands]) {
    if (count == 1) return;
    bool joins = axes > 0;
    for (int k = 0; joins && k < kOperands; ++k) {
      joins = steps[k] == step[k][axes - 1] * extent[axes - 1];
    }
    if (joins) {
      extent[axes - 1] *= count;
      return;
    }
    extent[axes] = count;
    for (int k = 0; k < kOperands; ++k) step[k][axes] = steps[k];
    ++axes;
  }
  void reverse() {
    for (int i = 0, j = axes - 1; i < j; ++i, --j) {
      swap(extent[i], extent[j]);
      for (int k = 0; k < kOperands; ++k) swap(step[k][i], step[k][j]);
    }
  }
  // How far operand k reaches from its base, in elements.
  std::int64_t reach(int k) const {
    std::int64_t sum = 0;
    for (int i = 0; i < axes; ++i) {
      sum += (extent[i] - 1) * (step[k][i] < 0 ? -step[k][i] : step[k][i]);
    }
    return sum;
  }
  bool fits() const {
    constexpr std::int64_t kMost = 0x7fffffff;
    if (elements() > kMost) return false;
    for (int k = 0; k < kOperands; ++k) {
      if (reach(k) > kMost) return false;
    }
    return true;
  }

 private:
  static void swap(std::int64_t& a, std::int64_t& b) {
    const std::int64_t c = a;
    a = b;
    b = c;
  }
};

// As a kernel uses it.
template <int kOperands>
struct Loops {
  int axes = 0;
  Divisor extent[kMostAxes];
  std::int32_t step[kOperands][kMostAxes];

  Loops() = default;
  explicit Loops(const Plan<kOperands>& plan) : axes(plan.axes) {
    for (int i = 0; i < axes; ++i) {
      extent[i] = Divisor(static_cast<std::uint32_t>(plan.extent[i]));
      for (int k = 0; k < kOperands; ++k) step[k][i] = static_cast<std::int32_t>(plan.step[k][i]);
    }
  }
  EBB_BOTH void at(std::uint32_t number, std::int32_t (&offsets)[kOperands]) const {
    for (int k = 0; k < kOperands; ++k) offsets[k] = 0;
    for (int i = axes - 1; i > 0; --i) {
      const std::uint32_t rest = extent[i].divide(number);
      const auto position = static_cast<std::int32_t>(number - rest * extent[i].value);
      for (int k = 0; k < kOperands; ++k) offsets[k] += position * step[k][i];
      number = rest;
    }
    if (axes > 0) {
      for (int k = 0; k < kOperands; ++k) {
        offsets[k] += static_cast<std::int32_t>(number) * step[k][0];
      }
    }
  }
};

// Calls body(plan, offsets of the operands) for parts of the plan that fit 32 bits.
template <int kOperands, typename Body>
void each_part(const Plan<kOperands>& plan, const std::int64_t (&offsets)[kOperands],
               const Body& body) {
  if (plan.fits()) return body(plan, offsets);
  int outer = 0;
  while (plan.extent[outer] == 1) ++outer;
  Plan<kOperands> first = plan, second = plan;
  std::int64_t moved[kOperands];
  first.extent[outer] = plan.extent[outer] / 2;
  second.extent[outer] = plan.extent[outer] - first.extent[outer];
  for (int k = 0; k < kOperands; ++k) {
    moved[k] = offsets[k] + first.extent[outer] * plan.step[k][outer];
  }
  each_part(first, offsets, body);
  each_part(second, moved, body);
}

}  // namespace ebb::cuda
