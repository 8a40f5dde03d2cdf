// Parts of tensors, on a device that works on its own: no copies where a view does, and elementwise steps after the cut, so
// that they can be part of what is done with the parts.
#include <algorithm>
#include <array>

#include "ops/chain.hpp"
#include "program/device_fuse.hpp"
#include "program/fuse.hpp"

namespace ebb::programs {
namespace {

using ops::op_id;

constexpr std::size_t kNoStep = ~std::size_t{0};
constexpr std::uint64_t kMostParts = 4;  // a smaller part is no view

// `size` positions from `begin` on along an axis.
struct Cut {
  std::size_t axis;
  std::int64_t begin, size;
};

Shape with_extent(const Shape& shape, std::size_t axis, std::int64_t extent) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[axis] = extent;
  return Shape(dims);
}

std::vector<double> as_list(std::span<const std::int64_t> dims) {
  std::vector<double> list{static_cast<double>(dims.size())};
  list.insert(list.end(), dims.begin(), dims.end());
  return list;
}

class Cutter {
 public:
  Cutter(Plan& plan, const std::vector<Step>& steps)
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
    for (const Step& step : steps_) {
      if (!split(step) && !unpack(step)) made_.push_back(step);
    }
    return std::move(made_);
  }

 private:
  const Likeness& like(Slot slot) const { return plan_.likeness[slot]; }

  Slot new_slot(DType dtype, const Shape& shape) {
    plan_.likeness.push_back({dtype, shape});
    maker_.push_back(kNoStep);
    uses_.push_back(0);
    return static_cast<Slot>(plan_.likeness.size() - 1);
  }

  void add(ops::OpId op, const std::vector<Slot>& inputs, const std::vector<double>& attributes,
           Slot result) {
    made_.push_back({.op = op,
                     .attributes = append<double>(plan_.attributes, attributes),
                     .inputs = append<Slot>(plan_.slots, inputs),
                     .results = append<Slot>(plan_.slots, std::array{result}),
                     .ended = {}});
  }

  std::size_t axis_of(double given, const Shape& shape) const {
    return static_cast<std::size_t>(given < 0 ? given + static_cast<double>(shape.rank()) : given);
  }

  bool split(const Step& step) {
    if (step.op != op_id("SplitV")) return false;
    const Slot x = plan_.slots_in(step.inputs)[0];
    const std::vector<double> attributes(plan_.attributes_in(step.attributes).begin(),
                                         plan_.attributes_in(step.attributes).end());
    const std::vector<Slot> parts(plan_.slots_in(step.results).begin(),
                                  plan_.slots_in(step.results).end());
    for (const Slot part : parts) {
      if (bytes_in(plan_, part) < bytes_in(plan_, x) / kMostParts || like(part).shape.empty()) {
        return false;
      }
    }
    Cut cut{.axis = axis_of(attributes.back(), like(x).shape), .begin = 0, .size = 0};
    for (std::size_t k = 0; k < parts.size(); ++k) {
      cut.size = like(parts[k]).shape.dims()[cut.axis];
      make_part(parts[k], x, cut);
      cut.begin += cut.size;  // arithmetic: within the extent
    }
    return true;
  }

  // The parts along the first axis lie one after the other.
  bool unpack(const Step& step) {
    if (step.op != op_id("Unpack")) return false;
    const Slot x = plan_.slots_in(step.inputs)[0];
    const Shape shape = like(x).shape;
    const std::vector<Slot> parts(plan_.slots_in(step.results).begin(),
                                  plan_.slots_in(step.results).end());
    if (shape.empty() || axis_of(plan_.attributes_in(step.attributes)[0], shape) != 0 ||
        is_view(x)) {
      return false;
    }
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const Slot row = new_slot(like(x).dtype, with_extent(shape, 0, 1));
      slice(row, x, {.axis = 0, .begin = static_cast<std::int64_t>(k), .size = 1});
      add(op_id("Reshape"), {row}, as_list(like(parts[k]).shape.dims()), parts[k]);
    }
    return true;
  }

  // It may lie in another order, and then so would its parts.
  bool is_view(Slot x) const {
    constexpr std::array kViews{op_id("Transpose"), op_id("Slice"), op_id("Reshape"),
                                op_id("ExpandDims"), op_id("Identity")};
    return maker_[x] != kNoStep && std::ranges::find(kViews, steps_[maker_[x]].op) != kViews.end();
  }

  void slice(Slot part, Slot x, const Cut& cut) {
    std::vector<std::int64_t> begin(like(x).shape.rank(), 0);
    begin[cut.axis] = cut.begin;
    std::vector<double> attributes = as_list(begin);
    const std::vector<double> size = as_list(like(part).shape.dims());
    attributes.insert(attributes.end(), size.begin(), size.end());
    add(op_id("Slice"), {x}, attributes, part);
  }

  // Cut along the last axis, and nobody wants it whole.
  bool is_cut_early(Slot x, const Cut& cut) const {
    if (maker_[x] == kNoStep || cut.axis + 1 != like(x).shape.rank() ||
        like(x).dtype != DType::kFloat32) {
      return false;
    }
    const Step& step = steps_[maker_[x]];
    const auto inputs = plan_.slots_in(step.inputs);
    return uses_[x] == 1 && ops::chain_operands(step.op) == static_cast<int>(inputs.size()) &&
           std::ranges::all_of(inputs, [&](Slot slot) {
             return like(slot).dtype == DType::kFloat32 &&
                    ops::repeats_along(like(slot).shape, like(x).shape);
           });
  }

  void make_part(Slot part, Slot x, const Cut& cut) {
    if (!is_cut_early(x, cut)) return slice(part, x, cut);
    const Step& step = steps_[maker_[x]];
    std::vector<Slot> inputs(plan_.slots_in(step.inputs).begin(),
                             plan_.slots_in(step.inputs).end());
    for (Slot& input : inputs) input = part_of(input, cut);
    const auto attributes = plan_.attributes_in(step.attributes);
    add(step.op, inputs, {attributes.begin(), attributes.end()}, part);
  }

  // Of an operand: what goes with the part of the result.
  Slot part_of(Slot operand, Cut cut) {
    const Shape shape = like(operand).shape;
    if (std::ranges::all_of(shape.dims(), [](std::int64_t dim) { return dim == 1; })) {
      return operand;
    }
    cut.axis = shape.rank() - 1;  // arithmetic: it has one
    const Slot part = new_slot(DType::kFloat32, with_extent(shape, cut.axis, cut.size));
    make_part(part, operand, cut);
    return part;
  }

  Plan& plan_;
  const std::vector<Step>& steps_;
  std::vector<std::size_t> maker_;  // by slot
  std::vector<int> uses_;
  std::vector<Step> made_;
};

}  // namespace

void drop_same_shapes(Plan& plan, std::vector<Step>& steps) {
  std::vector<Slot> same(plan.likeness.size());
  for (Slot slot = 0; slot < same.size(); ++slot) same[slot] = slot;
  std::vector<Step> kept;
  for (Step step : steps) {
    const auto given = plan.slots_in(step.inputs);
    std::vector<Slot> inputs(given.begin(), given.end());
    for (Slot& slot : inputs) slot = slot == kNoSlot ? kNoSlot : same[slot];
    const Slot result = plan.slots_in(step.results)[0];
    const bool reshapes = step.op == op_id("Reshape") || step.op == op_id("BroadcastTo");
    if (reshapes && plan.likeness[inputs[0]].shape == plan.likeness[result].shape &&
        std::ranges::find(plan.outputs, result) == plan.outputs.end()) {
      same[result] = inputs[0];
      continue;
    }
    if (!std::ranges::equal(inputs, given)) step.inputs = append<Slot>(plan.slots, inputs);
    kept.push_back(step);
  }
  steps = std::move(kept);
}

void cut_early(Plan& plan, std::vector<Step>& steps) {
  steps = Cutter(plan, steps).make();
  drop_unused(plan, steps);
}

}  // namespace ebb::programs
