// From a product with batch axes to runs: products of one shape that lie evenly in memory, which is
// what cuBLASLt and the kernel by tiles take. Nothing here knows CUDA.
#pragma once

#include <array>
#include <cstddef>

#include "backends/cuda/plugin.h"
#include "ebb/base/dtype.hpp"
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

class ProductRuns {
 public:
  // Pre: all three are dense.
  ProductRuns(const ops::Product& product, const ebb_cuda_tensor& a, const ebb_cuda_tensor& b,
              const ebb_cuda_tensor& result);

  std::int64_t size() const noexcept { return size_; }
  ProductRun at(std::int64_t i) const;

 private:
  using Strides = std::array<std::int64_t, EBB_CUDA_MAX_RANK>;

  // An operand, and how far to step in it for each batch axis of the result; 0 where it is
  // repeated.
  struct Side {
    MatrixOperand matrix;
    Strides batch{};
  };
  static Side side_of(const ops::Product& product, const ebb_cuda_tensor& tensor, bool transposed);
  void collapse(const ops::Product& product);
  void fold();

  Side a_;
  Side b_;
  ProductRun first_;
  std::array<std::int64_t, EBB_CUDA_MAX_RANK> batch_{};
  std::size_t left_ = 0;     // batch axes that are not in a run
  std::int64_t size_ = 1;    // runs
  std::int64_t result_ = 0;  // elements of a run's result
  std::size_t bytes_ = 4;    // of an element
};

}  // namespace ebb::cuda
