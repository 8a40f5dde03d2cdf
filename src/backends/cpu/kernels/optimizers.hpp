// The inner loop of Adam's update.
#pragma once

#include <cstdint>

#include "ops/params/optimizers.hpp"

namespace ebb::cpu {

// A variable, or a part of one: all of the same length.
struct AdamRow {
  const float* value;
  const float* first;
  const float* second;
  const float* gradient;
  float* new_value;
  float* new_first;
  float* new_second;
};

struct AdamStep {
  ops::AdamParams numbers;
  float correction1, correction2;  // what the moments are divided by
};

void adam_row(const AdamRow& row, std::int64_t count, const AdamStep& step);

}  // namespace ebb::cpu
