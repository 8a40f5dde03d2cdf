// A run of a plan, step by step.
#pragma once

#include "ebb/ops/run.hpp"
#include "program/fuse.hpp"
#include "program/plan.hpp"

namespace ebb::programs {

enum class Given { kAll, kSome };  // some: 0 where a tensor is not there

// Resolves and holds what a run was given. Throws where it is not what was recorded.
void take_given(const Plan& plan, const Context& context, std::span<const Handle> given,
                std::vector<Operand>& held, Given which = Given::kAll);
std::vector<Operand> take_given(const Plan& plan, const Context& context,
                                std::span<const Handle> given);

// What a run writes down: short programs would spend a tenth of their time on making it anew, so a
// thread keeps one of no large size for its next run.
struct RunRoom {
  std::vector<Handle> handles, operands;
  std::vector<char> owned, taken;
  std::vector<ops::OpResult> results;
  std::vector<Operand> held;

  static RunRoom take() noexcept;
  static void give_back(RunRoom&& room) noexcept;
};

// The tensors of the slots. What it has made and not handed out ends with it.
class PlanRun {
 public:
  PlanRun(const Plan& plan, const ops::RunPlace& place, std::span<const Handle> given,
          Given which = Given::kAll);
  ~PlanRun();
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;

  // `kept`: the tensors of Plan::kept, which outlive it; null: there are none.
  void run(const std::vector<Tensor>* kept = nullptr);
  // The same, and the results are the caller's. The last step may write over what was given.
  void run_to_end(const std::vector<Tensor>* kept, std::span<ops::OpResult> results);
  // The recorded steps, up to the first that fails or needs what is not there. Results that were made
  // by then are the caller's, the others 0.
  void run_partly(std::span<ops::OpResult> results);
  // Of Plan::kept.
  std::vector<Tensor> make_kept();
  Handle handle_of(Slot slot) const noexcept { return handles_[slot]; }
  // Once.
  void hand_out(std::span<ops::OpResult> results);

 private:
  const std::vector<Step>& steps_for(const std::vector<Tensor>* kept);
  void step(const Step& step);
  std::span<const Handle> operands_of(const Step& step);
  bool has_operands(const Step& step) const;
  void drop_results(const Step& step);
  void take_results(const Step& step, std::size_t count);
  std::vector<char> may_write_over(std::span<const std::size_t> places);
  bool update_in_place(const Step& update, std::span<const std::size_t> places,
                       std::span<ops::OpResult> results);
  void check_result(const Step& step, std::size_t i) const;

  const Plan& plan_;
  const ops::RunPlace& place_;
  RunRoom room_;
  std::vector<Handle>& handles_ = room_.handles;  // by slot
  std::vector<char>& owned_ = room_.owned;
  std::vector<Handle>& operands_ = room_.operands;
  std::vector<ops::OpResult>& results_ = room_.results;
  std::span<const Handle> given_;
  std::vector<Operand>& held_ = room_.held;
};

}  // namespace ebb::programs
