// The end of a fused operation, applied to its float32 result in place. The libraries' own
// activations are not used: what they make of NaN is not said.
#pragma once

#include "backends/cuda/plugin/kernel.hpp"
#include "backends/cuda/plugin/kernels/finish.hpp"
#include "ops/params/fused.hpp"

namespace ebb::cuda {

// Adds the bias (unless `bias_done`) and applies the activation to output 0, in one launch or none.
void apply_epilogue(Call& call, const ops::Epilogue& epilogue, bool bias_done);

// Normalises output 0, channels last, in place, and applies the activation.
void apply_norm(Call& call, const Finish& finish);

// Whether the bias is one number for each of the last axis' elements, as cuBLASLt takes it.
bool is_per_column(const ops::Broadcast& operand, const ebb_cuda_tensor& result) noexcept;

// Whether the operand has the result's own shape, element by element.
bool is_whole(const ops::Broadcast& operand, const ebb_cuda_tensor& result) noexcept;

}  // namespace ebb::cuda
