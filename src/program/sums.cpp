// Sums of products as one product.
//
// What a recurrent network's weights get is the sum, over its steps, of products of a few rows each:
//   a1' b1 + a2' b2 + ... = [a1; a2; ...]' [b1; b2; ...]
// One product of all rows takes a fraction of the time, and no sums in between. What its bias gets is the sum of the
// sums of some rows each, and the sum of all of them.
#include <algorithm>
#include <array>
#include <map>

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
      if (sum.terms.size() >= kLeastTerms && are_alike(sum.terms)) take(i, sum);
    }
    apply();
  }

 private:
  // Steps that make a sum: its terms, and the additions but the last.
  struct Sum {
    std::vector<std::size_t> terms, additions;
  };

  Slot result_of(std::size_t i) const { return plan_.slots_in(steps_[i].results)[0]; }
  const Shape& shape_of(Slot slot) const { return plan_.likeness[slot].shape; }

  // Of terms, or of such sums: known of those before it.
  bool is_sum(std::size_t i) const {
    if (steps_[i].op != op_id("Add")) return false;
    return std::ranges::all_of(plan_.slots_in(steps_[i].inputs), [&](Slot slot) {
      return shape_of(slot) == shape_of(result_of(i)) && uses_[slot] == 1 &&
             maker_[slot] != kNoStep && (is_term(maker_[slot]) || whole_[maker_[slot]]);
    });
  }

  bool is_term(std::size_t i) const { return is_product(i) || is_sum_of_rows(i); }

  // Along the first axis of a matrix.
  bool is_sum_of_rows(std::size_t i) const {
    const Step& step = steps_[i];
    if (step.op != op_id("Sum")) return false;
    const auto attributes = plan_.attributes_in(step.attributes);  // the axes as a list, keepDims
    const Slot x = plan_.slots_in(step.inputs)[0];
    return attributes[0] == 1 && attributes[1] == 0 && shape_of(x).rank() == 2 &&
           plan_.likeness[x].dtype == DType::kFloat32;
  }

  // Products, or sums of rows that all keep their axis or do not.
  bool are_alike(const std::vector<std::size_t>& terms) const {
    return std::ranges::all_of(terms, [&](std::size_t i) {
      return steps_[i].op == steps_[terms[0]].op &&
             std::ranges::equal(plan_.attributes_in(steps_[i].attributes),
                                plan_.attributes_in(steps_[terms[0]].attributes));
    });
  }

  // a' b of two matrices that lie as they are multiplied: rows of both can be put below one another.
  bool is_product(std::size_t i) const {
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
        (whole_[maker] ? sum.additions : sum.terms).push_back(maker);
        if (whole_[maker]) left.push_back(maker);
      }
    }
    return sum;
  }

  // Last to first, as a tape comes upon them: then parts of one tensor are in its order.
  void take(std::size_t i, Sum& sum) {
    std::ranges::sort(sum.terms, std::greater());
    for (const std::size_t each : sum.terms) gone_[each] = true;
    for (const std::size_t each : sum.additions) gone_[each] = true;
    sums_.push_back({i, std::move(sum.terms)});
  }

  // The tensor whose parts along its first axis these are, all of them in order; kNoSlot: there is none.
  Slot whole_of(const std::vector<Slot>& parts) const {
    if (maker_[parts[0]] == kNoStep) return kNoSlot;
    const Step& step = steps_[maker_[parts[0]]];
    const bool cuts = step.op == op_id("Unpack") && plan_.attributes_in(step.attributes)[0] == 0;
    return cuts && std::ranges::equal(plan_.slots_in(step.results), parts)
               ? plan_.slots_in(step.inputs)[0]
               : kNoSlot;
  }

  // The operands on one side, below one another.
  Slot add_rows(const std::vector<std::size_t>& terms, std::size_t side, std::vector<Step>& made) {
    std::vector<Slot> parts;
    std::int64_t rows = 0, columns = 0;
    for (const std::size_t each : terms) {
      parts.push_back(plan_.slots_in(steps_[each].inputs)[side]);
      rows = checked_add(rows, shape_of(parts.back()).dims()[0]);
      columns = shape_of(parts.back()).dims()[1];
    }
    const Slot all = static_cast<Slot>(plan_.likeness.size());
    const auto [known, is_new] = rows_.try_emplace(parts, all);
    if (!is_new) return known->second;
    plan_.likeness.push_back({DType::kFloat32, Shape{rows, columns}});
    if (const Slot whole = whole_of(parts); whole != kNoSlot) {
      const std::array shape{2.0, static_cast<double>(rows), static_cast<double>(columns)};
      add(op_id("Reshape"), shape, std::array{whole}, all, made);
    } else {
      add(op_id("Concat"), std::array{0.0}, parts, all, made);
    }
    return all;
  }

  void add(ops::OpId op, std::span<const double> attributes, std::span<const Slot> inputs,
           Slot result, std::vector<Step>& made) {
    made.push_back({.op = op,
                    .attributes = append(plan_.attributes, attributes),
                    .inputs = append(plan_.slots, inputs),
                    .results = append<Slot>(plan_.slots, std::array{result}),
                    .ended = {}});
  }

  void add_sum(const std::vector<std::size_t>& terms, Slot result, std::vector<Step>& made) {
    std::vector<Slot> operands{add_rows(terms, 0, made)};
    if (is_product(terms[0])) operands.push_back(add_rows(terms, 1, made));
    const auto attributes = plan_.attributes_in(steps_[terms[0]].attributes);
    const std::vector<double> own(attributes.begin(), attributes.end());
    add(steps_[terms[0]].op, own, operands, result, made);
  }

  void apply() {
    std::vector<Step> made;
    auto sum = sums_.rbegin();  // the last was taken first
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (sum != sums_.rend() && sum->at == i) {
        add_sum(sum->terms, result_of(i), made);
        ++sum;
      } else if (!gone_[i]) {
        made.push_back(steps_[i]);
      }
    }
    steps_ = std::move(made);
  }

  struct Taken {
    std::size_t at;
    std::vector<std::size_t> terms;
  };

  Plan& plan_;
  std::vector<Step>& steps_;
  std::vector<std::size_t> maker_;  // by slot
  std::vector<int> uses_;
  std::vector<bool> gone_, whole_;  // whole_: a sum of terms and nothing else
  std::vector<Taken> sums_;
  std::map<std::vector<Slot>, Slot> rows_;  // what has been put below one another
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
