// arithmetic of this file: of tensors
#include "nn/draws.hpp"

#include <cmath>
#include <utility>

#include "ebb/base/checked.hpp"
#include "ebb/ops/operators.hpp"
#include "ops/recorder.hpp"

namespace ebb::nn {
namespace {

thread_local const Variable* seed_of_step = nullptr;
thread_local std::int32_t drawn_in_step = 0;

Tensor exclusive_or(const Tensor& a, const Tensor& b) { return a + b - ops::bitwise_and(a, b) * 2; }

// The upper bits, moved down by that factor, change the lower ones.
Tensor folded(const Tensor& x, double by) {
  const auto whole = [&](double value) { return detail::like(x, value); };
  const Tensor upper = ops::floor_div(x, whole(by));
  return exclusive_or(x, ops::bitwise_and(upper, whole(0x1p32 / by - 1)));
}

// A hash: what differs in one bit differs in half of them afterwards. int32 wraps around.
Tensor spread(const Tensor& x) {
  const Tensor once = folded(x, 0x1p16) * 2146121005.0;
  return folded(folded(once, 0x1p15) * -2073254261.0, 0x1p16);
}

// Any int32 for each element, as likely as any other.
Tensor draw_by(const Variable& seed, const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count = checked_mul(count, dim);
  const Tensor place = ops::range(0, static_cast<double>(count), {.dtype = DType::kInt32});
  const Tensor of_draw = spread(ops::fill({}, ++drawn_in_step, DType::kInt32));
  return ops::reshape(spread(place * -1640531527.0 + of_draw + seed), dims);
}

}  // namespace

DrawsOfStep::DrawsOfStep(const Variable& seed) noexcept
    : outer_seed_(std::exchange(seed_of_step, &seed)),
      outer_drawn_(std::exchange(drawn_in_step, 0)) {}

DrawsOfStep::~DrawsOfStep() {
  seed_of_step = outer_seed_;
  drawn_in_step = outer_drawn_;
}

bool step_draws() noexcept { return seed_of_step != nullptr; }

Tensor draw_kept(const Dims& dims, double dropped) {
  if (seed_of_step != nullptr) {
    const double first_kept = std::floor((dropped - 0.5) * 0x1p32);
    return ops::greater_equal(draw_by(*seed_of_step, dims),
                              ops::fill({}, first_kept, DType::kInt32));
  }
  // A seed that is recorded would draw the same numbers in each replay.
  const double seed = is_seeded() && !ops::Recorder::any_replays() ? next_seed() : 0;
  return ops::greater_equal(ops::random_uniform(dims, {.seed = seed}),
                            ops::fill({}, dropped, DType::kFloat32));
}

}  // namespace ebb::nn
