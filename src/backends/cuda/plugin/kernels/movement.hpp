// The copy that views and movements come down to.
#pragma once

#include "backends/cuda/plugin/kernel.hpp"

namespace ebb::cuda {

// As MoveParams says.
void move(Call& call);
// The tensor's elements in row-major order: its own, or copied to a workspace. Throws Failure.
const std::byte* dense(Call& call, const ebb_cuda_tensor& x);

}  // namespace ebb::cuda
