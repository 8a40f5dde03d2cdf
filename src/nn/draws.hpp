// What a layer draws while it trains, so that set_seed() reaches it.
//
// A recorded step runs no code of its layers again: a seed among the attributes of an operation would give
// the same numbers in each step. So the seed of a step is a variable, which TrainingStep gives another
// value before each of them, and what is drawn is worked out of it by operations.
#pragma once

#include "ebb/nn/initial.hpp"
#include "ebb/nn/layer.hpp"

namespace ebb::nn {

// Whether set_seed() has given this thread a seed.
bool is_seeded() noexcept;
// The next one in the order that set_seed() begins. Pre: is_seeded().
double next_seed() noexcept;
std::int32_t next_seed_of_step() noexcept;

// While it lives, what this thread draws comes from the seed, an int32 scalar.
class DrawsOfStep {
 public:
  explicit DrawsOfStep(const Variable& seed) noexcept;
  ~DrawsOfStep();
  DrawsOfStep(const DrawsOfStep&) = delete;
  DrawsOfStep& operator=(const DrawsOfStep&) = delete;

 private:
  const Variable* outer_seed_;
  std::int32_t outer_drawn_;
};

// Whether one lives on this thread.
bool step_draws() noexcept;

// True, but for this share of the elements.
Tensor draw_kept(const Dims& dims, double dropped);

}  // namespace ebb::nn
