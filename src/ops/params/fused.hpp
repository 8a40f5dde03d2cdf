// What products and convolutions may do to their result before it is written: add a bias, apply an
// activation. Shared by the meanings of all fused operations.
#pragma once

#include <array>
#include <cstdint>

#include "ebb/base/shape.hpp"

namespace ebb::ops {

// The numbers are the table's (ebb/ops/rows.hpp).
enum class Activation : std::uint8_t {
  kLinear = 0,
  kRelu = 1,
  kRelu6 = 2,
  kElu = 3,
  kPrelu = 4,
  kLeakyRelu = 5,
  kSigmoid = 6,
};

// An operand that broadcasts to the result: how far to step in it for each axis of the result.
struct Broadcast {
  bool given = false;
  std::array<std::int64_t, kMaxRank> strides{};
};

struct Epilogue {
  Broadcast bias;   // input 2
  Broadcast slope;  // input 3: prelu's weights
  Activation activation = Activation::kLinear;
  float alpha = 0;  // leakyrelu's

  constexpr bool empty() const noexcept { return !bias.given && activation == Activation::kLinear; }
};

}  // namespace ebb::ops
