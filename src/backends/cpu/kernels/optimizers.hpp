// The inner loop of optimizers' updates.
#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include "ops/params/optimizers.hpp"

namespace ebb::cpu {

// A variable, or a part of one: as many of each as the rule's form says, all of the same length.
struct UpdateRow {
  std::array<const float*, ops::kMostUpdateInputs> in;  // value, what is kept, gradient
  std::array<float*, ops::kMostUpdateInputs - 1> out;   // value, what is kept
};

// What is done to an element (ops/params/optimizers.hpp), with the numbers of this step.
struct AdamRule {
  static constexpr ops::UpdateForm kForm = ops::kAdam;
  ops::AdamParams numbers;
  float correction1, correction2;  // what the moments are divided by
  float reciprocal1 = 1.0F / correction1, reciprocal2 = 1.0F / correction2;
};
struct SgdRule {
  static constexpr ops::UpdateForm kForm = ops::kSgd;
  float negative_rate;
};
struct MomentumRule {
  static constexpr ops::UpdateForm kForm = ops::kMomentum;
  float negative_rate, momentum;
};
struct NesterovRule {
  static constexpr ops::UpdateForm kForm = ops::kMomentum;
  float negative_rate, momentum;
};
struct AdagradRule {
  static constexpr ops::UpdateForm kForm = ops::kAdagrad;
  ops::AdagradParams numbers;
};
struct AdadeltaRule {
  static constexpr ops::UpdateForm kForm = ops::kAdadelta;
  ops::AdadeltaParams numbers;
};
struct AdamaxRule {
  static constexpr ops::UpdateForm kForm = ops::kAdamax;
  ops::AdamaxParams numbers;
  float corrected_rate;  // negative, decayed
};
struct RmsPropRule {
  static constexpr ops::UpdateForm kForm = ops::kRmsProp;
  ops::RmsPropParams numbers;
};
struct CenteredRmsPropRule {
  static constexpr ops::UpdateForm kForm = ops::kCenteredRmsProp;
  ops::RmsPropParams numbers;
};

using UpdateRule = std::variant<AdamRule, SgdRule, MomentumRule, NesterovRule, AdagradRule,
                                AdadeltaRule, AdamaxRule, RmsPropRule, CenteredRmsPropRule>;

// Adamax's, of a step. Here, because it is rounded as the rest is.
float corrected_rate(const ops::AdamaxParams& numbers, float power1, float iteration);

void update_row(const UpdateRow& row, std::int64_t count, const UpdateRule& rule);

}  // namespace ebb::cpu
