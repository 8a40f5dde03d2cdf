// Matrix products: what products.cu (operands, own kernel) and products_cublas.cpp agree on.
#pragma once

#include <array>

#include "backends/cuda/plugin/kernel.hpp"
#include "ops/params/products.hpp"

namespace ebb::cuda {

// One operand of a product, [rows, columns] or as its transpose in memory, rows `ld` elements
// apart.
struct MatrixOperand {
  const void* data = nullptr;
  std::int64_t ld = 0;
  bool transposed = false;
  std::int64_t stride = 0;  // from one matrix of the run to the next; 0: one for all
};

// `count` products of one shape, one after the other in memory: [rows, inner] times [inner,
// columns].
struct ProductRun {
  DType dtype = DType::kFloat32;
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  std::int64_t count = 1;
  MatrixOperand a;
  MatrixOperand b;
  void* result = nullptr;        // dense
  const void* bias = nullptr;    // one a column, added; float32
  const void* addend = nullptr;  // as the result, added; float32
};

// False: cuBLASLt is not there, or has nothing for this shape.
bool multiply_by_cublas(Call& call, const ProductRun& run);

// Every dtype; neither bias nor addend.
void multiply_by_tiles(Call& call, const ProductRun& run);

}  // namespace ebb::cuda
