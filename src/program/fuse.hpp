// Fewer, larger steps that give the same numbers to the bit: Plan::fused.
#pragma once

#include "ebb/program/program.hpp"
#include "program/plan.hpp"

namespace ebb::programs {

// Pre: the plan is arranged. Where nothing can be gained, Plan::fused stays empty.
void fuse(Plan& plan, const ProgramOptions& options);

// Whether a run there may use Plan::fused: the device has the kernel, and nobody listens to this
// thread, who would have to know each operation.
bool can_fuse(const Device& device) noexcept;

// Says where the slots of these steps end: after their last use.
void end_slots(Plan& plan, std::vector<Step>& steps);

}  // namespace ebb::programs
