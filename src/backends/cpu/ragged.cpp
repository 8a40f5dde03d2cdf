// Ragged tensors as nested row splits. Messages of bad data are TensorFlow's.
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "backends/cpu/element.hpp"
#include "backends/cpu/families.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

double scalar(OpCall& call, std::size_t input, std::int64_t row) {
  const std::int64_t count = ops::elements(call.input(input).shape);
  return visit(call.input(input).dtype, [&]<typename T>(Type<T>) {
    return convert<double>(call.in<T>(input)[count == 1 ? 0 : row]);
  });
}

void ragged_range(OpCall& call) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (call.input(i).shape.rank() == 1) {
      rows = std::max(rows, call.input(i).shape.dims()[0]);
      if (call.input(i).shape.dims()[0] == 0) rows = 0;
    }
  }
  std::vector<std::int32_t> splits{0};
  for (std::int64_t row = 0; row < rows; ++row) {
    const double start = scalar(call, 0, row), limit = scalar(call, 1, row);
    const double delta = scalar(call, 2, row);
    call.check(delta != 0, "Requires delta != 0");
    const bool none = (delta > 0 && limit < start) || (delta < 0 && limit > start);
    const double size = none ? 0 : std::ceil(std::abs((limit - start) / delta));
    call.check(splits.back() + size <= 2147483647.0,
               "Requires ((limit - start) / delta) <= 2147483647");
    splits.push_back(splits.back() + static_cast<std::int32_t>(size));
  }
  call.make(DType::kInt32, Shape{rows + 1});
  std::copy(splits.begin(), splits.end(), call.out<std::int32_t>(0));
  call.make(call.input(0).dtype, Shape{splits.back()});
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    T* to = call.out<T>(1);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      double value = scalar(call, 0, row);
      for (std::int32_t i = splits[at]; i < splits[at + 1]; ++i) {
        *to++ = convert<T>(value);
        value += scalar(call, 2, row);
      }
    }
  });
}

using Splits = std::vector<std::int32_t>;

void check_splits(OpCall& call, const std::vector<Splits>& nested, std::int64_t values) {
  for (std::size_t dim = 0; dim < nested.size(); ++dim) {
    const Splits& splits = nested[dim];
    const std::int64_t last = dim + 1 == nested.size()
                                  ? values
                                  : static_cast<std::int64_t>(nested[dim + 1].size());
    call.check(!splits.empty(), "Ragged splits may not be empty");
    call.check(splits.front() >= 0, "Ragged splits must be non-negative");
    call.check(splits.back() <= last, "Ragged splits must not point past values");
    for (std::size_t i = 1; i < splits.size(); ++i) {
      call.check(splits[i - 1] <= splits[i], "Ragged splits must be sorted in ascending order");
    }
  }
}

struct Gathered {
  std::vector<Splits> splits;
  std::vector<std::pair<std::int32_t, std::int32_t>> runs;  // of dense values
  std::int64_t values = 0;
};

Gathered gather_splits(OpCall& call, const std::vector<Splits>& nested) {
  const Operand& indices = call.input(call.inputs() - 1);
  const std::size_t rank = indices.shape.rank();
  const auto* index = reinterpret_cast<const std::int32_t*>(indices.data);
  Gathered result;
  result.splits.assign(rank == 0 ? nested.size() - 1 : rank - 1 + nested.size(), Splits{0});
  std::int64_t rows = 1;
  for (std::size_t dim = 0; dim + 1 < rank; ++dim) {
    rows *= indices.shape.dims()[dim];
    const auto length = static_cast<std::int32_t>(indices.shape.dims()[dim + 1]);
    for (std::int32_t i = 1; i <= rows; ++i) result.splits[dim].push_back(i * length);
  }
  for (std::int64_t i = 0; i < ops::elements(indices.shape); ++i) {
    std::int32_t start = index[i], limit = index[i] + 1;
    for (std::size_t dim = 0; dim < nested.size(); ++dim) {
      const Splits& from = nested[dim];
      if (dim + rank >= 1) {
        Splits& to = result.splits[dim + rank - 1];
        const std::int32_t shift = to.back() - from[static_cast<std::size_t>(start)];
        for (std::int32_t j = start; j < limit; ++j) {
          to.push_back(from[static_cast<std::size_t>(j) + 1] + shift);
        }
      }
      start = from[static_cast<std::size_t>(start)];
      limit = from[static_cast<std::size_t>(limit)];
    }
    if (limit != start) result.runs.emplace_back(start, limit);
    result.values += limit - start;
  }
  return result;
}

void check_indices(OpCall& call, std::int64_t rows) {
  const Operand& indices = call.input(call.inputs() - 1);
  const auto* index = reinterpret_cast<const std::int32_t*>(indices.data);
  for (std::int64_t i = 0; i < ops::elements(indices.shape); ++i) {
    call.check(index[i] >= 0 && index[i] < rows, "indices[{}] = {} is not in [0, {})", i, index[i],
               rows);
  }
}

void ragged_gather(OpCall& call) {
  std::vector<Splits> nested;
  for (std::size_t i = 0; i + 2 < call.inputs(); ++i) {
    const std::int32_t* from = call.in<std::int32_t>(i);
    nested.emplace_back(from, from + ops::elements(call.input(i).shape));
  }
  const Operand& dense = call.input(call.inputs() - 2);
  check_splits(call, nested, dense.shape.dims()[0]);
  check_indices(call, static_cast<std::int64_t>(nested[0].size()) - 1);
  const Gathered gathered = gather_splits(call, nested);
  for (const Splits& splits : gathered.splits) {
    ops::Output& out = call.make(DType::kInt32, Shape{static_cast<std::int64_t>(splits.size())});
    std::copy(splits.begin(), splits.end(), reinterpret_cast<std::int32_t*>(out.data));
  }
  ops::IntList dims(dense.shape.dims());
  dims[0] = gathered.values;
  std::byte* to = call.make(dense.dtype, Shape(dims)).data;
  const std::size_t row = static_cast<std::size_t>(ops::extent(dense.shape, 1, dense.shape.rank())) *
                          size_of(dense.dtype);
  for (const auto& [start, limit] : gathered.runs) {
    const std::size_t bytes = static_cast<std::size_t>(limit - start) * row;
    std::memcpy(to, dense.data + static_cast<std::size_t>(start) * row, bytes);
    to += bytes;
  }
}

}  // namespace

void add_ragged(KernelTable& kernels) {
  kernels.set(op_id("RaggedRange"), ragged_range);
  kernels.set(op_id("RaggedGather"), ragged_gather);
}

}  // namespace ebb::cpu
