// A run of a plan, step by step.
#pragma once

#include "ebb/ops/run.hpp"
#include "program/fuse.hpp"
#include "program/plan.hpp"

namespace ebb::programs {

// Resolves and holds what a run was given. Throws where it is not what was recorded.
std::vector<Operand> take_given(const Plan& plan, const Context& context,
                                std::span<const Handle> given);

// The tensors of the slots. What it has made and not handed out ends with it.
class PlanRun {
 public:
  PlanRun(const Plan& plan, const ops::RunPlace& place, std::span<const Handle> given);
  ~PlanRun();
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;

  void run() {
    const bool fused = !plan_.fused.empty() && can_fuse(plan_, place_.device);
    for (const Step& each : fused ? plan_.fused : plan_.steps) step(each);
  }
  Handle handle_of(Slot slot) const noexcept { return handles_[slot]; }
  // Once.
  void hand_out(std::span<ops::OpResult> results);

 private:
  void step(const Step& step);
  void check_result(const Step& step, std::size_t i) const;

  const Plan& plan_;
  const ops::RunPlace& place_;
  std::vector<Handle> handles_;  // by slot
  std::vector<char> owned_;
  std::vector<Handle> operands_;
  std::vector<ops::OpResult> results_;
  std::vector<Operand> held_;
};

}  // namespace ebb::programs
