// Rows that are centred and divided by their deviation, as one step: what layer normalisation is made of. On a device that
// works on its own that is one launch instead of five.
#include <algorithm>
#include <array>

#include "ops/params/program_ops.hpp"
#include "program/device_fuse.hpp"
#include "program/fuse.hpp"

namespace ebb::programs {
namespace {

using ops::op_id;

constexpr std::size_t kNoStep = ~std::size_t{0};

class RowNormFinder {
 public:
  RowNormFinder(Plan& plan, const std::vector<Step>& steps)
      : plan_(plan),
        steps_(steps),
        maker_(plan.likeness.size(), kNoStep),
        uses_(plan.likeness.size()) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const Slot slot : plan.slots_in(steps[i].inputs)) {
        if (slot != kNoSlot) ++uses_[slot];
      }
      for (const Slot slot : plan.slots_in(steps[i].results)) maker_[slot] = i;
    }
    for (const Slot slot : plan.outputs) uses_[slot] += 2;  // it must stay
  }

  std::vector<Step> make() {
    std::vector<Step> made;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Found found = norm_at(i);
      made.push_back(found.x == kNoSlot ? steps_[i] : as_norm(steps_[i], found));
    }
    return made;
  }

 private:
  struct Found {
    Slot x = kNoSlot, epsilon = kNoSlot;
  };

  const Likeness& like(Slot slot) const { return plan_.likeness[slot]; }

  // The step that makes it, where it is of that operation.
  const Step* made_by(Slot slot, ops::OpId op) const {
    if (slot == kNoSlot || maker_[slot] == kNoStep) return nullptr;
    const Step& step = steps_[maker_[slot]];
    return step.op == op ? &step : nullptr;
  }
  Slot input(const Step& step, std::size_t i) const { return plan_.slots_in(step.inputs)[i]; }

  // The same elements under another name, or in another shape.
  Slot origin(Slot slot) const {
    while (slot != kNoSlot && maker_[slot] != kNoStep) {
      const ops::OpId op = steps_[maker_[slot]].op;
      if (op != op_id("Identity") && op != op_id("Reshape") && op != op_id("ExpandDims")) break;
      slot = input(steps_[maker_[slot]], 0);
    }
    return slot;
  }

  // Whether it has the mean of each row of x, along the last axis.
  bool is_mean_of(Slot slot, Slot x) const {
    const Step* mean = made_by(origin(slot), op_id("Mean"));
    if (mean == nullptr || origin(input(*mean, 0)) != origin(x)) return false;
    const Slot whole = input(*mean, 0);
    if (like(whole).shape != like(x).shape) return false;
    const auto dims = like(x).shape.dims();
    const auto own = like(slot).shape.dims();
    const auto axes = plan_.attributes_in(mean->attributes);  // how many, which, keepDims
    const auto last = static_cast<double>(dims.size()) - 1;
    return axes[0] == 1 && (axes[1] == last || axes[1] == -1) && own.size() == dims.size() &&
           own.back() == 1 &&
           std::ranges::equal(own.first(own.size() - 1), dims.first(dims.size() - 1));
  }

  // x - mean: the step, where it is one.
  const Step* centred(Slot slot) const {
    const Step* difference = made_by(slot, op_id("Sub"));
    if (difference == nullptr || like(slot).shape != like(input(*difference, 0)).shape)
      return nullptr;
    return is_mean_of(input(*difference, 1), input(*difference, 0)) ? difference : nullptr;
  }

  bool is_used_here_alone(Slot slot, int times = 1) const { return uses_[slot] == times; }

  // Whether it has the squares of x - mean; `centre` may be used for them and once more.
  bool is_squares_of(Slot slot, Slot x, Slot centre) const {
    if (!is_used_here_alone(slot)) return false;
    const Step* square = made_by(slot, op_id("Square"));
    if (square == nullptr) {
      const Step* difference = made_by(slot, op_id("SquaredDifference"));
      return difference != nullptr && origin(input(*difference, 0)) == origin(x) &&
             like(input(*difference, 0)).shape == like(x).shape &&
             is_mean_of(input(*difference, 1), x) && is_used_here_alone(centre);
    }
    const Slot own = input(*square, 0);
    if (own == centre) return is_used_here_alone(centre, 2);
    const Step* difference = centred(own);
    return difference != nullptr && origin(input(*difference, 0)) == origin(x) &&
           is_used_here_alone(own) && is_used_here_alone(centre);
  }

  // Of a division by the root of variance + epsilon.
  Found norm_at(std::size_t i) const {
    const Step& step = steps_[i];
    if (step.op != op_id("RealDiv")) return {};
    const Slot centre = input(step, 0), root = input(step, 1);
    const Step* difference = centred(centre);
    const Step* square_root = made_by(root, op_id("Sqrt"));
    if (difference == nullptr || square_root == nullptr || !is_used_here_alone(root)) return {};
    const Slot x = input(*difference, 0), shifted = input(*square_root, 0);
    const Step* sum = made_by(shifted, op_id("Add"));
    if (sum == nullptr || !is_used_here_alone(shifted) || like(x).dtype != DType::kFloat32)
      return {};
    for (const std::size_t k : {0, 1}) {
      const Slot variance = input(*sum, k), epsilon = input(*sum, 1 - k);
      if (like(epsilon).shape.elements() != 1 || like(epsilon).dtype != DType::kFloat32) continue;
      const Step* mean = made_by(origin(variance), op_id("Mean"));
      if (mean == nullptr || !is_used_here_alone(variance)) continue;
      const Slot squares = input(*mean, 0);
      if (is_mean_of(variance, squares) && like(squares).shape == like(x).shape &&
          is_squares_of(squares, x, centre)) {
        return {.x = x, .epsilon = epsilon};
      }
    }
    return {};
  }

  Step as_norm(const Step& step, const Found& found) {
    return {.op = ops::kRowNorm,
            .attributes = {},
            .inputs = append<Slot>(plan_.slots, std::array{found.x, found.epsilon}),
            .results = step.results,
            .ended = {}};
  }

  Plan& plan_;
  const std::vector<Step>& steps_;
  std::vector<std::size_t> maker_;  // by slot
  std::vector<int> uses_;
};

}  // namespace

void join_row_norms(Plan& plan, std::vector<Step>& steps) {
  steps = RowNormFinder(plan, steps).make();
  drop_unused(plan, steps);
}

}  // namespace ebb::programs
