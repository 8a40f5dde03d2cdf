// Checks that the meanings of all fused operations share.
#pragma once

#include "ops/op_call.hpp"
#include "ops/params/fused.hpp"

namespace ebb::ops {

// Checks inputs 2 and 3 and the activation against the result's shape; both are float32.
// `channels_first`: a list of numbers counts along axis 1 instead of the last.
Epilogue checked_epilogue(const OpCall& call, const Shape& result, std::int64_t activation,
                          double alpha, bool channels_first);

}  // namespace ebb::ops
