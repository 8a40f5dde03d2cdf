// How CUDA's products are cut into runs, against products as they are defined.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

// The plug-in is no library that a test could link.
#include "backends/cuda/plugin/kernels/products_runs.cpp"

namespace ebb::cuda {
namespace {

using Dims = std::vector<std::int64_t>;
using Floats = std::vector<float>;

ebb_cuda_tensor dense(const Dims& dims, Floats& values) {
  ebb_cuda_tensor made{};
  made.dtype = static_cast<std::uint32_t>(DType::kFloat32);
  made.rank = static_cast<std::uint32_t>(dims.size());
  made.dense = 1;
  std::int64_t step = 1;
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    made.dims[axis] = dims[axis];
    made.strides[axis] = step;
    step *= dims[axis];
  }
  values.resize(static_cast<std::size_t>(step));
  made.data = values.data();
  return made;
}

float element(const MatrixOperand& operand, std::int64_t matrix, std::int64_t row,
              std::int64_t column) {
  const auto* data = static_cast<const float*>(operand.data) + matrix * operand.stride;
  return operand.transposed ? data[column * operand.ld + row] : data[row * operand.ld + column];
}

void multiply(const ProductRun& run) {
  auto* to = static_cast<float*>(run.result);
  for (std::int64_t m = 0; m < run.count; ++m) {
    for (std::int64_t i = 0; i < run.rows; ++i) {
      for (std::int64_t j = 0; j < run.columns; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < run.inner; ++k) {
          sum += element(run.a, m, i, k) * element(run.b, m, k, j);
        }
        to[(m * run.rows + i) * run.columns + j] = sum;
      }
    }
  }
}

// The element of a tensor that goes with [batch..., row, column] of the result.
float broadcast_at(const ebb_cuda_tensor& tensor, const Dims& batch, std::int64_t row,
                   std::int64_t column) {
  std::int64_t at =
      row * tensor.strides[tensor.rank - 2] + column * tensor.strides[tensor.rank - 1];
  const std::size_t missing = batch.size() + 2 - tensor.rank;
  for (std::size_t axis = missing; axis < batch.size(); ++axis) {
    if (tensor.dims[axis - missing] != 1) at += batch[axis] * tensor.strides[axis - missing];
  }
  return static_cast<const float*>(tensor.data)[at];
}

Floats defined(const ops::Product& p, const ebb_cuda_tensor& a, const ebb_cuda_tensor& b) {
  Floats made;
  Dims batch(p.batch_axes(), 0);
  std::int64_t matrices = 1;
  for (std::size_t axis = 0; axis < batch.size(); ++axis) matrices *= p.batch[axis];
  for (std::int64_t m = 0; m < matrices; ++m) {
    std::int64_t rest = m;
    for (std::size_t axis = batch.size(); axis-- > 0;) {
      batch[axis] = rest % p.batch[axis];
      rest /= p.batch[axis];
    }
    for (std::int64_t i = 0; i < p.rows; ++i) {
      for (std::int64_t j = 0; j < p.columns; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < p.inner; ++k) {
          sum += (p.transpose_a ? broadcast_at(a, batch, k, i) : broadcast_at(a, batch, i, k)) *
                 (p.transpose_b ? broadcast_at(b, batch, j, k) : broadcast_at(b, batch, k, j));
        }
        made.push_back(sum);
      }
    }
  }
  return made;
}

class ProductCase {
 public:
  explicit ProductCase(std::mt19937& random) : random_(random) {
    p.rank = 2 + random() % 4;
    p.rows = 1 + up_to(4);
    p.inner = 1 + up_to(4);
    p.columns = 1 + up_to(4);
    p.transpose_a = random() % 2 == 0;
    p.transpose_b = random() % 2 == 0;
    for (std::size_t axis = 0; axis < p.batch_axes(); ++axis) {
      p.batch[axis] = 1 + up_to(3);
      p.a_batch[axis] = random() % 3 == 0 ? 1 : p.batch[axis];
      p.b_batch[axis] = random() % 3 == 0 || p.a_batch[axis] == 1 ? p.batch[axis] : 1;
    }
    a = operand(p.a_batch, p.rows, p.inner, p.transpose_a, a_values_);
    b = operand(p.b_batch, p.inner, p.columns, p.transpose_b, b_values_);
    Dims dims(p.batch.begin(), p.batch.begin() + static_cast<std::ptrdiff_t>(p.batch_axes()));
    dims.push_back(p.rows);
    dims.push_back(p.columns);
    result = dense(dims, values);
  }

  ops::Product p;
  ebb_cuda_tensor a{}, b{}, result{};
  Floats values;

 private:
  std::int64_t up_to(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most));
  }
  // Leading axes of one element may be missing.
  ebb_cuda_tensor operand(const std::array<std::int64_t, kMaxRank>& batch, std::int64_t rows,
                          std::int64_t columns, bool transposed, Floats& values_of) {
    std::size_t first = 0;
    while (first < p.batch_axes() && batch[first] == 1 && random_() % 2 == 0) ++first;
    Dims dims(batch.begin() + static_cast<std::ptrdiff_t>(first),
              batch.begin() + static_cast<std::ptrdiff_t>(p.batch_axes()));
    dims.push_back(transposed ? columns : rows);
    dims.push_back(transposed ? rows : columns);
    const ebb_cuda_tensor made = dense(dims, values_of);
    for (float& value : values_of) value = static_cast<float>(up_to(9)) - 4;
    return made;
  }

  std::mt19937& random_;
  Floats a_values_, b_values_;
};

TEST(CudaProducts, AreTheSumOfTheirRuns) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    ProductCase one(random);
    std::fill(one.values.begin(), one.values.end(), -1e9F);
    const ProductRuns runs(one.p, one.a, one.b, one.result);
    for (std::int64_t run = 0; run < runs.size(); ++run) multiply(runs.at(run));
    ASSERT_EQ(one.values, defined(one.p, one.a, one.b)) << "product number " << i;
  }
}

TEST(CudaProducts, OfManyMatricesAndOneAreOneProduct) {
  Floats a, b, c;
  ops::Product p;
  p.rank = 3;
  p.a_batch[0] = p.batch[0] = 5;
  p.b_batch[0] = 1;
  p.rows = 2;
  p.inner = 3;
  p.columns = 4;
  const ProductRuns runs(p, dense({5, 2, 3}, a), dense({3, 4}, b), dense({5, 2, 4}, c));
  EXPECT_EQ(runs.size(), 1);
  EXPECT_EQ(runs.at(0).rows, 10);
  EXPECT_EQ(runs.at(0).count, 1);
}

}  // namespace
}  // namespace ebb::cuda
