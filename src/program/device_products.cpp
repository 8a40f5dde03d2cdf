// Products of parts of one tensor with the same matrix, as one product. A recurrent network multiplies each step of
// its input so, before anything depends on the step before: eight at once take the time of one.
#include <algorithm>
#include <array>
#include <map>

#include "ebb/base/checked.hpp"
#include "program/device_fuse.hpp"
#include "program/fuse.hpp"

namespace ebb::programs {
namespace {

using ops::op_id;

// So few that what they make is not much more than it would be one by one.
constexpr std::size_t kLeastParts = 4, kMostParts = 8;

class ProductMerger {
 public:
  ProductMerger(Plan& plan, const std::vector<Step>& steps)
      : plan_(plan), steps_(steps), factor_of_(plan.likeness.size()), gone_(steps.size()) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (is_product(i)) factor_of_[plan.slots_in(steps[i].inputs)[0]].push_back(i);
    }
  }

  std::vector<Step> make() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (is_cut_in_rows(i)) find_products(i);
      if (const auto run = runs_.find(i); run != runs_.end()) merge(run->second);
      if (!gone_[i]) made_.push_back(steps_[i]);
    }
    return std::move(made_);
  }

 private:
  const Shape& shape_of(Slot slot) const { return plan_.likeness[slot].shape; }

  // Of two matrices, the first as it lies, with at most a bias for each column.
  bool is_product(std::size_t i) const {
    const Step& step = steps_[i];
    if (step.op != op_id("BatchMatMul") && step.op != op_id("_FusedMatMul")) return false;
    const auto inputs = plan_.slots_in(step.inputs);
    const Slot result = plan_.slots_in(step.results)[0];
    if (plan_.attributes_in(step.attributes)[0] != 0 || shape_of(inputs[0]).rank() != 2 ||
        shape_of(inputs[1]).rank() != 2 || plan_.likeness[result].dtype != DType::kFloat32) {
      return false;
    }
    const bool biased = inputs.size() > 2 && inputs[2] != kNoSlot;
    return (!biased || shape_of(inputs[2]).elements() ==
                           static_cast<std::uint64_t>(shape_of(result).dims()[1])) &&
           (inputs.size() < 4 || inputs[3] == kNoSlot);
  }

  bool is_cut_in_rows(std::size_t i) const {
    const Step& step = steps_[i];
    return step.op == op_id("Unpack") && plan_.attributes_in(step.attributes)[0] == 0 &&
           shape_of(plan_.slots_in(step.inputs)[0]).rank() == 3 &&
           step.results.count >= kLeastParts;
  }

  // What products of different parts must have in common: operation, attributes, the other operands.
  std::vector<double> rest_of(std::size_t i) const {
    std::vector<double> rest{static_cast<double>(steps_[i].op)};
    for (const Slot slot : plan_.slots_in(steps_[i].inputs).subspan(1)) rest.push_back(slot);
    const auto attributes = plan_.attributes_in(steps_[i].attributes);
    rest.insert(rest.end(), attributes.begin(), attributes.end());
    return rest;
  }

  // Products of parts that follow one another, and the tensor that they are parts of.
  struct Run {
    Slot whole = kNoSlot;
    std::size_t first = 0;  // part
    std::vector<std::size_t> products;
  };

  void find_products(std::size_t at) {
    const auto parts = plan_.slots_in(steps_[at].results);
    std::map<std::vector<double>, std::vector<std::size_t>> products;  // one of each part, in order
    for (std::size_t k = 0; k < parts.size(); ++k) {
      for (const std::size_t each : factor_of_[parts[k]]) {
        std::vector<std::size_t>& alike = products[rest_of(each)];
        if (alike.size() == k && (k == 0 || alike.back() < each)) alike.push_back(each);
      }
    }
    for (const auto& [rest, alike] : products) {
      if (alike.size() == parts.size()) add_runs(plan_.slots_in(steps_[at].inputs)[0], alike);
    }
  }

  void add_runs(Slot whole, std::span<const std::size_t> products) {
    for (std::size_t first = 0; first < products.size(); first += kMostParts) {
      const auto some = products.subspan(first, std::min(kMostParts, products.size() - first));
      if (some.size() < kLeastParts) continue;
      for (const std::size_t each : some) gone_[each] = true;
      runs_[some[0]] = {.whole = whole, .first = first, .products = {some.begin(), some.end()}};
    }
  }

  Slot new_slot(std::int64_t rows, std::int64_t columns) {
    plan_.likeness.push_back({DType::kFloat32, Shape{rows, columns}});
    return static_cast<Slot>(plan_.likeness.size() - 1);
  }

  Slot add(ops::OpId op, std::span<const Slot> inputs, std::span<const double> attributes,
           Slot result) {
    made_.push_back({.op = op,
                     .attributes = append(plan_.attributes, attributes),
                     .inputs = append(plan_.slots, inputs),
                     .results = append<Slot>(plan_.slots, std::array{result}),
                     .ended = {}});
    return result;
  }

  Slot add_slice(Slot x, std::int64_t begin, std::int64_t rows, Slot result) {
    const auto columns = static_cast<double>(shape_of(x).dims()[1]);
    return add(
        op_id("Slice"), std::array{x},
        std::array{2.0, static_cast<double>(begin), 0.0, 2.0, static_cast<double>(rows), columns},
        result);
  }

  // All rows of a tensor of three axes, below one another: once.
  Slot rows_of(Slot whole) {
    const auto [known, is_new] = rows_.try_emplace(whole, kNoSlot);
    if (!is_new) return known->second;
    const auto dims = shape_of(whole).dims();
    const std::int64_t count = checked_mul(dims[0], dims[1]), columns = dims[2];
    known->second = new_slot(count, columns);
    return add(op_id("Reshape"), std::array{whole},
               std::array{2.0, static_cast<double>(count), static_cast<double>(columns)},
               known->second);
  }

  void merge(const Run& run) {
    const Step& first = steps_[run.products[0]];
    const auto part = shape_of(plan_.slots_in(first.results)[0]).dims();
    const std::int64_t own = part[0], columns = part[1];
    const auto count = static_cast<std::int64_t>(run.products.size());
    const Slot rows = rows_of(run.whole);
    const std::int64_t begin = checked_mul(own, static_cast<std::int64_t>(run.first));
    const Slot some = new_slot(checked_mul(own, count), shape_of(rows).dims()[1]);
    add_slice(rows, begin, shape_of(some).dims()[0], some);
    std::vector<Slot> inputs(plan_.slots_in(first.inputs).begin(),
                             plan_.slots_in(first.inputs).end());
    inputs[0] = some;
    const Slot all = new_slot(shape_of(some).dims()[0], columns);
    const auto attributes = plan_.attributes_in(first.attributes);
    add(first.op, inputs, std::vector<double>(attributes.begin(), attributes.end()), all);
    for (std::int64_t k = 0; k < count; ++k) {
      const Step& each = steps_[run.products[static_cast<std::size_t>(k)]];
      add_slice(all, checked_mul(k, own), own, plan_.slots_in(each.results)[0]);
    }
  }

  Plan& plan_;
  const std::vector<Step>& steps_;
  std::vector<std::vector<std::size_t>> factor_of_;  // by slot: products whose first factor it is
  std::vector<bool> gone_;
  std::map<std::size_t, Run> runs_;  // by their first product
  std::map<Slot, Slot> rows_;
  std::vector<Step> made_;
};

}  // namespace

void merge_products(Plan& plan, std::vector<Step>& steps) {
  std::vector<Step> merged = ProductMerger(plan, steps).make();
  drop_unused(plan, merged);
  if (held_by(plan, merged).most <= held_by(plan, steps).most) steps = std::move(merged);
}

}  // namespace ebb::programs
