// The end of a fused operation, applied to its float32 result in place. oneDNN's own post-ops are
// not used for activations: its relu and clip turn NaN into a number.
#pragma once

#include <limits>
#include <optional>

#include "ops/fused.hpp"

namespace ebb::cpu {

// What is beyond them becomes them. NaN stays NaN.
struct Limits {
  float least = -std::numeric_limits<float>::infinity();
  float most = std::numeric_limits<float>::infinity();
};
// An activation that is no more than limits, as them; none: it is more.
std::optional<Limits> limits_of(ops::Activation activation) noexcept;

// Adds the bias (unless `bias_done`) and applies the activation to output 0.
void apply_epilogue(ops::OpCall& call, const ops::Epilogue& epilogue, bool bias_done);

// Whether the bias is one number for each of the last axis' elements, as oneDNN takes it.
bool is_per_column(const ops::Broadcast& operand, const Shape& result) noexcept;

// The activation alone; not prelu.
void activate(ops::Activation activation, float alpha, float* data, std::int64_t count);

}  // namespace ebb::cpu
