// Sums of products as one product.
//
// What a recurrent network's weights get is the sum, over its steps, of products of a few rows each:
//   a1' b1 + a2' b2 + ... = [a1; a2; ...]' [b1; b2; ...]
// One product of all rows takes a fraction of the time, and no sums in between.
#include <algorithm>
#include <array>

#include "ebb/base/checked.hpp"
#include "program/fuse.hpp"

namespace ebb::programs {
namespace {

using ops::op_id;

constexpr std::size_t kLeastTerms = 4;
constexpr std::size_t kNoStep = ~std::size_t{0};

class Summer {
 public:
  Summer(Plan& plan, std::vector<Step>& steps)
      : plan_(plan),
        steps_(steps),
        maker_(plan.likeness.size(), kNoStep),
        uses_(plan.likeness.size()),
        gone_(steps.size()),
        whole_(steps.size()) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const Slot slot : plan.slots_in(steps[i].inputs)) {
        if (slot != kNoSlot) ++uses_[slot];
      }
      for (const Slot slot : plan.slots_in(steps[i].results)) maker_[slot] = i;
    }
    for (const Slot slot : plan.outputs) uses_[slot] += 2;  // it must stay
  }

  void merge() {
    for (std::size_t i = 0; i < steps_.size(); ++i) whole_[i] = is_sum(i);
    // Last to first: the whole of a sum is met before its parts.
    for (std::size_t i = steps_.size(); i-- > 0;) {
      if (!whole_[i] || gone_[i]) continue;
      Sum sum = collect(i);
      if (sum.products.size() >= kLeastTerms) take(i, sum);
    }
    apply();
  }

 private:
  // Steps that make a sum: its products, first to last, and the additions but the last.
  struct Sum {
    std::vector<std::size_t> products, additions;
  };

  Slot result_of(std::size_t i) const { return plan_.slots_in(steps_[i].results)[0]; }
  const Shape& shape_of(Slot slot) const { return plan_.likeness[slot].shape; }

  // Of products, or of such sums: known of those before it.
  bool is_sum(std::size_t i) const {
    if (steps_[i].op != op_id("Add")) return false;
    return std::ranges::all_of(plan_.slots_in(steps_[i].inputs), [&](Slot slot) {
      return shape_of(slot) == shape_of(result_of(i)) && uses_[slot] == 1 &&
             maker_[slot] != kNoStep && (is_term(maker_[slot]) || whole_[maker_[slot]]);
    });
  }

  // a' b of two matrices that lie as they are multiplied: rows of both can be put below one another.
  bool is_term(std::size_t i) const {
    const Step& step = steps_[i];
    if (step.op != op_id("BatchMatMul")) return false;
    const auto flags = plan_.attributes_in(step.attributes);
    const auto factors = plan_.slots_in(step.inputs);
    return flags[0] != 0 && flags[1] == 0 && shape_of(factors[0]).rank() == 2 &&
           shape_of(factors[1]).rank() == 2 &&
           plan_.likeness[result_of(i)].dtype == DType::kFloat32;
  }

  Sum collect(std::size_t i) const {
    Sum sum;
    std::vector<std::size_t> left{i};
    while (!left.empty()) {
      const std::size_t at = left.back();
      left.pop_back();
      for (const Slot slot : plan_.slots_in(steps_[at].inputs)) {
        const std::size_t maker = maker_[slot];
        (whole_[maker] ? sum.additions : sum.products).push_back(maker);
        if (whole_[maker]) left.push_back(maker);
      }
    }
    return sum;
  }

  void take(std::size_t i, Sum& sum) {
    std::ranges::sort(sum.products);
    for (const std::size_t each : sum.products) gone_[each] = true;
    for (const std::size_t each : sum.additions) gone_[each] = true;
    sums_.push_back({i, std::move(sum.products)});
  }

  // The factors on one side, below one another.
  Slot add_rows(const std::vector<std::size_t>& products, std::size_t side,
                std::vector<Step>& made) {
    std::vector<Slot> parts;
    std::int64_t rows = 0, columns = 0;
    for (const std::size_t each : products) {
      parts.push_back(plan_.slots_in(steps_[each].inputs)[side]);
      rows = checked_add(rows, shape_of(parts.back()).dims()[0]);
      columns = shape_of(parts.back()).dims()[1];
    }
    const Slot all = static_cast<Slot>(plan_.likeness.size());
    plan_.likeness.push_back({DType::kFloat32, Shape{rows, columns}});
    made.push_back({.op = op_id("Concat"),
                    .attributes = append<double>(plan_.attributes, std::array{0.0}),
                    .inputs = append<Slot>(plan_.slots, parts),
                    .results = append<Slot>(plan_.slots, std::array{all}),
                    .ended = {}});
    return all;
  }

  void apply() {
    std::vector<Step> made;
    auto sum = sums_.rbegin();  // the last was taken first
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (sum != sums_.rend() && sum->at == i) {
        const Slot a = add_rows(sum->products, 0, made), b = add_rows(sum->products, 1, made);
        made.push_back({.op = op_id("BatchMatMul"),
                        .attributes = append<double>(plan_.attributes, std::array{1.0, 0.0}),
                        .inputs = append<Slot>(plan_.slots, std::array{a, b}),
                        .results = steps_[i].results,
                        .ended = {}});
        ++sum;
      } else if (!gone_[i]) {
        made.push_back(steps_[i]);
      }
    }
    steps_ = std::move(made);
  }

  struct Taken {
    std::size_t at;
    std::vector<std::size_t> products;
  };

  Plan& plan_;
  std::vector<Step>& steps_;
  std::vector<std::size_t> maker_;  // by slot
  std::vector<int> uses_;
  std::vector<bool> gone_, whole_;  // whole_: a sum of products and nothing else
  std::vector<Taken> sums_;
};

}  // namespace

void merge_sums(Plan& plan, std::vector<Step>& steps) {
  const std::size_t slots = plan.likeness.size();
  std::vector<Step> merged = steps;
  Summer(plan, merged).merge();
  if (plan.likeness.size() == slots) return;
  // The factors live until the last of them is there.
  if (held_by(plan, merged).most <= held_by(plan, steps).most) steps = std::move(merged);
}

}  // namespace ebb::programs
