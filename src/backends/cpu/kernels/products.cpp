// Matrix products: float32 goes to oneDNN or to blocks; the others are here.
#include "backends/cpu/kernels/products.hpp"

#include <algorithm>
#include <complex>
#include <cstring>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/kernels/products_row.hpp"
#include "backends/cpu/parallel.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::OpCall;
using ops::Product;

// Sums of int32 wrap, as they do in an Int32Array; unsigned arithmetic is defined to.
using Wrapping = std::uint32_t;

struct Complex {
  float re;
  float im;
  friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  Complex& operator+=(Complex other) {
    re += other.re;
    im += other.im;
    return *this;
  }
};

// A 16-bit float's products are summed as float32.
template <typename T>
inline constexpr bool kIsNarrow = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;

// One row of the result: a's elements, `a_step` apart, times b's rows.
template <typename T>
void multiply_row(const Product& p, const T* a, std::int64_t a_step, const T* b, T* out) {
  if constexpr (kIsNarrow<T>) {
    for (std::int64_t j = 0; j < p.columns; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < p.inner; ++k) {
        sum += static_cast<float>(a[k * a_step]) * static_cast<float>(b[k * p.columns + j]);
      }
      out[j] = T(sum);
    }
  } else {
    std::memset(static_cast<void*>(out), 0, static_cast<std::size_t>(p.columns) * sizeof(T));
    for (std::int64_t k = 0; k < p.inner; ++k) {
      const T factor = a[k * a_step];
      const T* row = b + k * p.columns;
      for (std::int64_t j = 0; j < p.columns; ++j) out[j] += factor * row[j];
    }
  }
}

// The right-hand matrices as [inner, columns], whichever way they were given.
template <typename T>
const T* straightened(OpCall& call, const Product& p) {
  const T* given = call.in<T>(1);
  if (!p.transpose_b) return given;
  const std::int64_t all = ops::elements(call.input(1).shape);
  const std::int64_t one = p.inner * p.columns;
  T* made = call.workspace<T>(static_cast<std::uint64_t>(all));
  for (std::int64_t m = 0; m < all / one; ++m) {
    for (std::int64_t k = 0; k < p.inner; ++k) {
      for (std::int64_t j = 0; j < p.columns; ++j) {
        made[m * one + k * p.columns + j] = given[m * one + j * p.inner + k];
      }
    }
  }
  return made;
}

template <typename T>
void multiply(OpCall& call) {
  const auto& p = call.params<Product>();
  const T* a = call.in<T>(0);
  const T* b = straightened<T>(call, p);
  T* out = call.out<T>(0);
  const std::int64_t a_row = p.transpose_a ? 1 : p.inner;
  const std::int64_t a_step = p.transpose_a ? p.rows : 1;
  const std::int64_t rows = ops::elements(call.output(0).shape) / p.columns;
  const std::int64_t grain = 128 * 1024 / (p.inner * p.columns) + 1;
  parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t matrix = row / p.rows;
      const T* left = a + matrix_index(p, p.a_batch, matrix) * p.rows * p.inner;
      const T* right = b + matrix_index(p, p.b_batch, matrix) * p.inner * p.columns;
      multiply_row(p, left + row % p.rows * a_row, a_step, right, out + row * p.columns);
    }
  });
}

void product(OpCall& call) {
  const auto& p = call.params<Product>();
  const ops::Output& out = call.output(0);
  const std::int64_t count = ops::elements(out.shape);
  if (count == 0) return;
  if (p.inner == 0) {
    std::memset(out.data, 0, static_cast<std::size_t>(count) * size_of(out.dtype));
    if (out.dtype == DType::kFloat32) apply_epilogue(call, p.epilogue, false);
    return;
  }
  switch (out.dtype) {
    case DType::kInt32:
      return multiply<Wrapping>(call);
    case DType::kComplex64:
      return multiply<Complex>(call);
    case DType::kFloat64:
      return multiply<double>(call);
    case DType::kFloat16:
      return multiply<Float16>(call);
    case DType::kBfloat16:
      return multiply<Bfloat16>(call);
    default:
      return multiply_floats(call);
  }
}

}  // namespace

std::int64_t matrix_index(const Product& p, const std::array<std::int64_t, kMaxRank>& own,
                          std::int64_t index) {
  std::int64_t offset = 0;
  std::int64_t step = 1;
  for (std::size_t axis = p.batch_axes(); axis-- > 0;) {
    if (own[axis] != 1) offset += index % p.batch[axis] * step;
    index /= p.batch[axis];
    step *= own[axis];
  }
  return offset;
}

std::int64_t matrices(const std::array<std::int64_t, kMaxRank>& batch, std::size_t axes) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < axes; ++i) count *= batch[i];
  return count;
}

Product folded(Product product) {
  const std::size_t axes = product.batch_axes();
  if (axes == 0 || product.transpose_a || matrices(product.b_batch, axes) != 1) return product;
  product.rows *= matrices(product.batch, axes);
  product.rank = 2;
  return product;
}

bool multiplied_row(OpCall& call, const Product& product, bool bias) {
  const bool suits = product.rows == 1 && product.batch_axes() == 0 && !product.transpose_b &&
                     product.inner * product.columns <= kRowProductElements;
  if (!suits) return false;
  const ops::Epilogue& epilogue = product.epilogue;
  // An activation comes after the bias.
  const auto limits = limits_of(epilogue.activation);
  const bool whole = bias == epilogue.bias.given && limits.has_value();
  multiply_row({call.in<float>(0), call.in<float>(1), bias ? call.in<float>(2) : nullptr,
                call.out<float>(0), product.inner, product.columns, whole ? *limits : Limits{}});
  if (!whole) apply_epilogue(call, epilogue, bias);
  return true;
}

void add_products(KernelTable& table) {
  table.set(ops::op_id("BatchMatMul"), product);
  table.set(ops::op_id("_FusedMatMul"), product);
}

}  // namespace ebb::cpu
