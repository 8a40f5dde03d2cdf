// Matrix products: what products.cu (operands, own kernel) and products_cublas.cpp agree on.
#pragma once

#include "backends/cuda/plugin/kernel.hpp"
#include "backends/cuda/plugin/kernels/finish.hpp"
#include "backends/cuda/plugin/kernels/products_runs.hpp"

namespace ebb::cuda {

// False: cuBLASLt is not there, or has nothing for this shape.
bool multiply_by_cublas(Call& call, const ProductRun& run);

// Small products of float32 (products_small.cu), finished while they are written. False: it is none.
bool multiply_small(Call& call, const ProductRun& run, const Finish& finish);

// Every dtype; neither bias nor addend.
void multiply_by_tiles(Call& call, const ProductRun& run);

}  // namespace ebb::cuda
