// What products and convolutions may do to their result before it is written: add a bias, apply an
// activation. Shared by the meanings of all fused operations.
#pragma once

#include <array>
#include <cstdint>

#include "ebb/base/shape.hpp"
#include "ebb/ops/words.hpp"

namespace ebb::ops {

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
