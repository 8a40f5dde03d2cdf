// From a call of an operation to a plan that has run.
#pragma once

#include "backends/cpu/dnn_plan.hpp"
#include "backends/cpu/plan_cache.hpp"
#include "ops/op_call.hpp"

namespace ebb::cpu {

// Work of fewer floating-point operations than this runs on the calling thread: the team has to be
// woken, and the other core may have a host's compiler or collector on it. From Node, 6.4e6 took
// 64 us on one thread; on two 68 at the median and 163 on average.
inline constexpr double kAloneFlops = 8e6;

// Runs `plan`, its workspace in the books for as long as that takes.
void run_plan(ops::OpCall& call, Plan& plan, std::span<const void* const> data);

// What makes a plan's kind of primitive different from another's in its key.
enum class PlanKind : std::int64_t {
  kProduct,
  kProductPart,
  kConvolution,
  kConvolutionBackData,
  kConvolutionBackWeights,
};

inline PlanKey key_of(PlanKind kind) { return PlanKey(static_cast<std::int64_t>(kind)); }

}  // namespace ebb::cpu
