// What a run holds beside what it is given, by the shapes.
#include <algorithm>
#include <array>

#include "ebb/base/checked.hpp"
#include "program/fuse.hpp"

namespace ebb::programs {
namespace {

using ops::op_id;

constexpr std::array kViews{op_id("Identity"), op_id("Reshape"),   op_id("ExpandDims"),
                            op_id("Slice"),    op_id("Transpose"), op_id("SplitV"),
                            op_id("Unpack")};

}  // namespace

bool is_view(ops::OpId op) noexcept { return std::ranges::find(kViews, op) != kViews.end(); }

std::uint64_t bytes_in(const Plan& plan, Slot slot) {
  return bytes_of(plan.likeness[slot].shape, size_of(plan.likeness[slot].dtype));
}

std::vector<std::size_t> last_uses(const Plan& plan, const std::vector<Step>& steps) {
  std::vector<std::size_t> last(plan.likeness.size(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const Part part : {steps[i].results, steps[i].inputs}) {
      for (const Slot slot : plan.slots_in(part)) {
        if (slot != kNoSlot) last[slot] = i;
      }
    }
  }
  for (const Slot slot : plan.given) last[slot] = kForEver;
  for (const Slot slot : plan.outputs) last[slot] = kForEver;
  for (const Constant& each : plan.constants) last[each.slot] = kForEver;
  for (const KeptSlot& each : plan.kept) last[each.used] = kForEver;
  return last;
}

Held held_by(const Plan& plan, const std::vector<Step>& steps) {
  const std::vector<std::size_t> last = last_uses(plan, steps);
  std::vector<bool> ended(plan.likeness.size()), may_be_view(plan.likeness.size());
  Held held;
  std::uint64_t all = 0, sure = 0;  // with what may be views, and without
  for (std::size_t i = 0; i < steps.size(); ++i) {
    held.before.push_back(all);
    const bool views = is_view(steps[i].op);
    for (const Slot slot : plan.slots_in(steps[i].results)) {
      all = checked_add(all, bytes_in(plan, slot));
      if (!views) sure = checked_add(sure, bytes_in(plan, slot));
      may_be_view[slot] = views;
    }
    held.most = std::max(held.most, sure);
    for (const Part part : {steps[i].inputs, steps[i].results}) {
      for (const Slot slot : plan.slots_in(part)) {
        if (slot == kNoSlot || last[slot] != i || ended[slot]) continue;
        ended[slot] = true;
        all -= bytes_in(plan, slot);
        if (!may_be_view[slot]) sure -= bytes_in(plan, slot);
      }
    }
  }
  return held;
}

}  // namespace ebb::programs
