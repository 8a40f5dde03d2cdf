// Ragged tensors: gathering rows, and ranges as rows.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;
using Splits = std::vector<std::int32_t>;

std::span<const std::int32_t> vector_of(const OpCall& call, std::size_t input) noexcept {
  return {call.in<std::int32_t>(input),
          static_cast<std::size_t>(ops::elements(call.input(input).shape))};
}

// ---- RaggedGather

void check_splits(const OpCall& call, std::span<const std::int32_t> splits, std::int64_t values) {
  call.check(splits[0] >= 0, "Ragged splits must be non-negative");
  call.check(std::ranges::is_sorted(splits), "Ragged splits must be sorted in ascending order");
  call.check(splits.back() <= values, "Ragged splits must not point past values: {} of {}",
             splits.back(), values);
}

class Gather {
 public:
  explicit Gather(OpCall& call)
      : call_(call), nested_(call.inputs() - 2), indices_(vector_of(call, nested_ + 1)) {
    check();
    outer_splits();
    for (const std::int32_t index : indices_) take_row(index);
  }

  void write() {
    for (const Splits& each : splits_) {
      call_.make(DType::kInt32, Shape{static_cast<std::int64_t>(each.size())});
      std::ranges::copy(each, call_.out<std::int32_t>(call_.outputs() - 1));
    }
    const Operand& values = call_.input(nested_);
    ops::IntList dims(values.shape.dims());
    dims[0] = count_;
    std::byte* out = call_.make(values.dtype, Shape(dims)).data;
    const auto bytes = static_cast<std::size_t>(ops::extent(values.shape, 1, values.shape.rank())) *
                       size_of(values.dtype);
    for (const auto& [from, to] : slices_) {
      const std::size_t length = static_cast<std::size_t>(to - from) * bytes;
      if (length > 0)
        std::memcpy(out, values.data + static_cast<std::size_t>(from) * bytes, length);
      out += length;
    }
  }

 private:
  void check() const {
    const std::int64_t rows = call_.input(0).shape.dims()[0] - 1;
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      call_.check(indices_[i] >= 0 && indices_[i] < rows, "indices[{}] = {} is not in [0, {})", i,
                  indices_[i], rows);
    }
    for (std::size_t i = 0; i < nested_; ++i) {
      const std::int64_t next = call_.input(i + 1).shape.dims()[0];
      check_splits(call_, vector_of(call_, i), i + 1 < nested_ ? next - 1 : next);
    }
  }

  // The axes of the indices, but for the last, are rows of equal length: the first outputs.
  void outer_splits() {
    const auto dims = call_.input(nested_ + 1).shape.dims();
    std::int64_t rows = 1;
    for (std::size_t axis = 0; axis + 1 < dims.size(); ++axis) {
      rows = narrow(checked_mul(rows, dims[axis]));
      narrow(checked_mul(rows, dims[axis + 1]));
      call_.make(DType::kInt32, Shape{checked_add(rows, 1)});
      auto* splits = call_.out<std::int32_t>(call_.outputs() - 1);
      for (std::int64_t i = 0; i <= rows; ++i) {
        splits[i] = static_cast<std::int32_t>(i * dims[axis + 1]);
      }
    }
    outer_ = dims.empty() ? 1 : 0;  // a scalar takes one row, whose own split is not in the result
    splits_.assign(nested_ - outer_, {0});
  }

  void take_row(std::int32_t index) {
    std::int32_t from = index, to = index + 1;
    for (std::size_t i = 0; i < nested_; ++i) {
      const std::span<const std::int32_t> splits = vector_of(call_, i);
      if (i >= outer_) {
        Splits& out = splits_[i - outer_];
        const std::int64_t delta =
            std::int64_t{out.back()} - splits[static_cast<std::size_t>(from)];
        for (std::int32_t j = from; j < to; ++j) {
          out.push_back(narrow(splits[static_cast<std::size_t>(j) + 1] + delta));
        }
      }
      from = splits[static_cast<std::size_t>(from)];
      to = splits[static_cast<std::size_t>(to)];
    }
    if (from == to) return;
    slices_.emplace_back(from, to);
    count_ += to - from;
  }

  std::int32_t narrow(std::int64_t value) const {
    call_.check(value <= std::numeric_limits<std::int32_t>::max(),
                "the result has {} values, at most 2^31 - 1 are allowed", value);
    return static_cast<std::int32_t>(value);
  }

  OpCall& call_;
  std::size_t nested_;
  std::size_t outer_ = 0;  // nested splits that are not in the result
  std::span<const std::int32_t> indices_;
  std::vector<Splits> splits_;  // those of the nested rows
  std::vector<std::pair<std::int32_t, std::int32_t>> slices_;
  std::int64_t count_ = 0;
};

void gather(OpCall& call) { Gather(call).write(); }

// ---- RaggedRange

template <typename T>
class Ranges {
 public:
  explicit Ranges(const OpCall& call) : call_(call) {}

  std::int64_t rows() const noexcept {
    for (std::size_t i = 0; i < 3; ++i) {
      if (call_.input(i).shape.rank() == 1) return call_.input(i).shape.dims()[0];
    }
    return 1;
  }

  double get(std::size_t input, std::int64_t row) const noexcept {
    return convert<double>(call_.in<T>(input)[call_.input(input).shape.rank() == 0 ? 0 : row]);
  }

  std::int64_t size(std::int64_t row) const {
    const double start = get(0, row), limit = get(1, row), delta = get(2, row);
    call_.check(delta != 0, "Requires delta != 0");
    if ((delta > 0 && limit < start) || (delta < 0 && limit > start)) return 0;
    const double size = std::ceil(std::abs((limit - start) / delta));
    call_.check(size <= std::numeric_limits<std::int32_t>::max(),  // false for NaN
                "Requires ((limit - start) / delta) <= 2147483647");
    return static_cast<std::int64_t>(size);
  }

 private:
  const OpCall& call_;
};

template <typename T>
void write_ranges(OpCall& call) {
  const Ranges<T> ranges(call);
  const std::int64_t rows = ranges.rows();
  auto* splits =
      reinterpret_cast<std::int32_t*>(call.make(DType::kInt32, Shape{checked_add(rows, 1)}).data);
  splits[0] = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t end = splits[row] + ranges.size(row);
    call.check(end <= std::numeric_limits<std::int32_t>::max(),
               "the result has {} values, at most 2^31 - 1 are allowed", end);
    splits[row + 1] = static_cast<std::int32_t>(end);
  }
  T* out = reinterpret_cast<T*>(call.make(call.input(0).dtype, Shape{splits[rows]}).data);
  for (std::int64_t row = 0; row < rows; ++row) {
    double value = ranges.get(0, row);
    for (std::int32_t i = splits[row]; i < splits[row + 1]; ++i, value += ranges.get(2, row)) {
      *out++ = convert<T>(value);
    }
  }
}

void range(OpCall& call) {
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) { write_ranges<T>(call); });
}

}  // namespace

void add_ragged(KernelTable& kernels) {
  kernels.set(op_id("RaggedGather"), gather);
  kernels.set(op_id("RaggedRange"), range);
}

}  // namespace ebb::cpu
