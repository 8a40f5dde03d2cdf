// Matrix products: what products.cu (operands, own kernel) and products_cublas.cpp agree on.
#pragma once

#include "backends/cuda/plugin/kernel.hpp"
#include "backends/cuda/plugin/kernels/products_runs.hpp"

namespace ebb::cuda {

// False: cuBLASLt is not there, or has nothing for this shape.
bool multiply_by_cublas(Call& call, const ProductRun& run);

// Every dtype; neither bias nor addend.
void multiply_by_tiles(Call& call, const ProductRun& run);

}  // namespace ebb::cuda
