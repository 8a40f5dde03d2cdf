#include "backends/cpu/dnn_run.hpp"

namespace ebb::cpu {

void run_plan(ops::OpCall& call, Plan& plan, std::span<const void* const> data) {
  // Most small products need less than this; taking a block for it would cost as much as they do.
  constexpr std::size_t kOnStack = 4096;
  if (plan.workspace_bytes() <= kOnStack) {
    alignas(64) std::byte small[kOnStack];
    plan.run(data, small);
    return;
  }
  plan.run(data, call.workspace(plan.workspace_bytes()));
}

}  // namespace ebb::cpu
