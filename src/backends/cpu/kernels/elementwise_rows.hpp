// Inner loops of elementwise kernels, by operation and dtype: dense runs of elements.
#pragma once

#include <array>
#include <cstdint>

#include "ebb/base/dtype.hpp"
#include "ebb/ops/table.hpp"

namespace ebb::cpu {

// y[i] = f(x[i]); `attributes` are the operation's numbers.
using UnaryRow = void (*)(const void* x, void* y, std::int64_t count, const double* attributes);
// out[i] = f(a[i * a_step], b[i * b_step]); steps are 0 or 1.
using BinaryRow = void (*)(const void* a, std::int64_t a_step, const void* b, std::int64_t b_step,
                           void* out, std::int64_t count);

// y[i] = x[i], converted
using CastRow = void (*)(const void* x, void* y, std::int64_t count);

template <typename Row>
class RowTable {
 public:
  void set(ops::OpId id, DType dtype, Row row) noexcept {
    rows_[id][static_cast<std::size_t>(dtype)] = row;
  }
  // Null: there is none for that dtype.
  Row find(ops::OpId id, DType dtype) const noexcept {
    return rows_[id][static_cast<std::size_t>(dtype)];
  }

 private:
  static constexpr std::size_t kRows = 80;  // elementwise operations have the first ids
  static constexpr std::size_t kDTypes = 12;
  std::array<std::array<Row, kDTypes>, kRows> rows_{};
};

using UnaryRows = RowTable<UnaryRow>;
using BinaryRows = RowTable<BinaryRow>;

// Any dtype, one element at a time.
void add_scalar_unary_rows(UnaryRows& rows);
void add_scalar_binary_rows(BinaryRows& rows);
// float32 and int32, with the widest vectors this processor has; in place of the former.
void add_vector_unary_rows(UnaryRows& rows);
void add_vector_math_rows(UnaryRows& rows);
void add_vector_binary_rows(BinaryRows& rows);  // the next one's too
void add_vector_power_rows(BinaryRows& rows);
void add_vector_comparison_rows(BinaryRows& rows);
// All of them, as they are chosen for this processor.
const UnaryRows& unary_rows();
const BinaryRows& binary_rows();
// Null: a plain loop does it as well.
CastRow vector_cast_row(DType from, DType to);

}  // namespace ebb::cpu
