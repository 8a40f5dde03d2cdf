// Sparse tensors.
#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "backends/cpu/accumulate.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

std::span<const std::int32_t> vector_of(const OpCall& call, std::size_t input) noexcept {
  return {call.in<std::int32_t>(input),
          static_cast<std::size_t>(ops::elements(call.input(input).shape))};
}

std::span<std::int32_t> workspace_of(OpCall& call, std::size_t count) {
  auto* memory = call.workspace<std::int32_t>(count);
  std::fill_n(memory, count, 0);
  return {memory, count};
}

// ---- SparseFillEmptyRows

// How many indices each row has.
void count_rows(const OpCall& call, std::int32_t rows, std::span<std::int32_t> counts) {
  const std::int64_t given = call.input(0).shape.dims()[0], rank = call.input(0).shape.dims()[1];
  call.check(rows > 0 || given == 0,
             "Received SparseTensor with denseShape[0] = 0 but indices.shape[0] = {}", given);
  for (std::int64_t i = 0; i < given; ++i) {
    const std::int32_t row = call.in<std::int32_t>(0)[i * rank];
    call.check(row >= 0, "indices({}, 0) is invalid: {} < 0", i, row);
    call.check(row < rows, "indices({}, 0) is invalid: {} >= {}", i, row, rows);
    ++counts[static_cast<std::size_t>(row)];
  }
}

// counts become where each row begins in the result; an empty row takes one place.
std::int64_t begin_rows(std::span<std::int32_t> counts) noexcept {
  std::int64_t at = 0;
  for (std::int32_t& count : counts) {
    const std::int32_t places = std::max(count, 1);
    count = static_cast<std::int32_t>(at);
    at += places;
  }
  return at;
}

void fill_empty_rows(OpCall& call) {
  const std::int64_t given = call.input(0).shape.dims()[0], rank = call.input(0).shape.dims()[1];
  const std::int32_t rows = vector_of(call, 2)[0];
  call.check(rows >= 0, "denseShape[0] is {}, 0 and more are allowed", rows);
  const std::span<std::int32_t> next = workspace_of(call, static_cast<std::size_t>(rows));
  count_rows(call, rows, next);
  call.check(given + rows <= std::numeric_limits<std::int32_t>::max(),
             "{} indices and {} rows were given, at most 2^31 - 1 together are allowed", given,
             rows);
  const std::span<std::int32_t> empty = workspace_of(call, static_cast<std::size_t>(rows));
  std::transform(next.begin(), next.end(), empty.begin(), [](std::int32_t n) { return n == 0; });
  const std::int64_t total = begin_rows(next);

  call.make(DType::kInt32, Shape{total, rank});
  call.make(call.input(1).dtype, Shape{total});
  call.make(DType::kBool, Shape{rows});
  call.make(DType::kInt32, Shape{given});
  auto* indices = call.out<std::int32_t>(0);
  std::fill_n(indices, total * rank, 0);
  std::copy(empty.begin(), empty.end(), call.out<std::uint8_t>(2));
  visit_size(call.input(1).dtype, [&]<typename T>(Type<T>) {
    T* values = call.out<T>(1);
    for (std::size_t row = 0; row < empty.size(); ++row) {
      if (empty[row] == 0) continue;
      indices[next[row] * rank] = static_cast<std::int32_t>(row);
      values[next[row]] = *call.in<T>(3);
    }
    for (std::int64_t i = 0; i < given; ++i) {
      const std::int32_t* index = call.in<std::int32_t>(0) + i * rank;
      const std::int32_t to = next[static_cast<std::size_t>(*index)]++;
      std::copy_n(index, rank, indices + to * rank);
      values[to] = call.in<T>(1)[i];
      call.out<std::int32_t>(3)[i] = to;
    }
  });
}

// ---- SparseReshape

std::int64_t product_of(const OpCall& call, std::span<const std::int32_t> dims) {
  std::int64_t product = 1;
  for (const std::int32_t dim : dims) {
    const bool overflow = dim < 0 || __builtin_mul_overflow(product, std::int64_t{dim}, &product);
    call.check(!overflow, "the shape has an extent of {}, which is negative or too many elements",
               dim);
  }
  return product;
}

// Puts in place of -1 what is left over.
void complete_shape(const OpCall& call, std::span<const std::int32_t> input,
                    std::span<std::int32_t> output) {
  std::int32_t* missing = nullptr;
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (output[i] == -1) {
      call.check(missing == nullptr, "only one output dimension may be -1, not both {} and {}",
                 missing - output.data(), i);
      missing = &output[i];
      *missing = 1;
    } else {
      call.check(output[i] >= 0, "size {} must be non-negative, not {}", i, output[i]);
    }
  }
  const std::int64_t dense = product_of(call, input), known = product_of(call, output);
  if (missing != nullptr) {
    call.check(
        known > 0,
        "reshape cannot infer the missing input size for an empty tensor unless all specified "
        "input sizes are non-zero");
    call.check(dense % known == 0 && dense / known <= std::numeric_limits<std::int32_t>::max(),
               "Input to reshape is a SparseTensor with {} dense values, but the requested shape "
               "requires a multiple of {}",
               dense, known);
    *missing = static_cast<std::int32_t>(dense / known);
  } else {
    call.check(dense == known,
               "Input to reshape is a tensor with {} dense values, but the requested shape has {}",
               dense, known);
  }
}

// Pre: the shapes have the same number of elements, and index is within `from`.
void renumber(const std::int32_t* index, std::span<const std::int32_t> from, std::int32_t* out,
              std::span<const std::int32_t> to) noexcept {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < from.size(); ++i) flat = flat * from[i] + index[i];
  for (std::size_t i = to.size(); i-- > 0;) {
    out[i] = static_cast<std::int32_t>(flat % to[i]);
    flat /= to[i];
  }
}

void reshape(OpCall& call) {
  const std::span<const std::int32_t> from = vector_of(call, 1);
  const std::int64_t given = call.input(0).shape.dims()[0];
  const std::int64_t rank = call.input(2).shape.dims()[0];
  call.make(DType::kInt32, Shape{given, rank});
  call.make(DType::kInt32, Shape{rank});
  const std::span<std::int32_t> to{call.out<std::int32_t>(1), static_cast<std::size_t>(rank)};
  std::ranges::copy(vector_of(call, 2), to.begin());
  complete_shape(call, from, to);
  const auto old_rank = static_cast<std::int64_t>(from.size());
  if (old_rank == 0 && rank == 0) return;  // there may be any number of such indices
  for (std::int64_t i = 0; i < given; ++i) {
    const std::int32_t* index = call.in<std::int32_t>(0) + i * old_rank;
    for (std::size_t j = 0; j < from.size(); ++j) {
      call.check(index[j] >= 0 && index[j] < from[j], "indices({}, {}) is {}, 0 to {} are allowed",
                 i, j, index[j], from[j] - 1);
    }
    renumber(index, from, call.out<std::int32_t>(0) + i * rank, to);
  }
}

// ---- SparseSegmentSum, SparseSegmentMean

void check_segments(const OpCall& call, std::span<const std::int32_t> indices,
                    std::span<const std::int32_t> ids) {
  if (ids.empty()) return;
  const std::int64_t rows = std::int64_t{ids.back()} + 1, data = call.input(0).shape.dims()[0];
  call.check(rows > 0, "segment ids must be >= 0");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool ends = i + 1 == ids.size() || ids[i] != ids[i + 1];
    call.check(!ends || i + 1 == ids.size() || ids[i] < ids[i + 1],
               "segment ids are not increasing");
    call.check(
        ids[i] >= 0 && ids[i] < rows,
        "Segment id {} out of range [0, {}), possibly because segmentIds input is not sorted.",
        ids[i], rows);
    call.check(indices[i] >= 0 && indices[i] < data, "Bad: indices[{}] == {} out of range [0, {})",
               i, indices[i], data);
  }
}

template <typename T>
void divide(T* row, std::int64_t length, std::int64_t by) noexcept {
  using Number = Arithmetic<T>;
  for (std::int64_t j = 0; j < length; ++j) {
    row[j] = convert<T>(static_cast<Number>(convert<Number>(row[j]) / static_cast<Number>(by)));
  }
}

void segment_reduction(OpCall& call) {
  const std::span<const std::int32_t> indices = vector_of(call, 1), ids = vector_of(call, 2);
  check_segments(call, indices, ids);
  const Shape& shape = call.input(0).shape;
  ops::IntList dims(shape.dims());
  dims[0] = ids.empty() ? 0 : std::int64_t{ids.back()} + 1;
  call.make(call.input(0).dtype, Shape(dims));
  const std::int64_t length = ops::extent(shape, 1, shape.rank());
  const bool mean = call.spec().id == op_id("SparseSegmentMean");
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    T* out = call.out<T>(0);
    std::fill_n(out, dims[0] * length, T{});
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      T* sum = out + ids[i] * length;
      const T* from = call.in<T>(0) + indices[i] * length;
      for (std::int64_t j = 0; j < length; ++j) add_to(sum[j], from[j]);
      if (i + 1 < ids.size() && ids[i] == ids[i + 1]) continue;
      if (mean) divide(sum, length, static_cast<std::int64_t>(i + 1 - begin));
      begin = i + 1;
    }
  });
}

}  // namespace

void add_sparse(KernelTable& kernels) {
  kernels.set(op_id("SparseFillEmptyRows"), fill_empty_rows);
  kernels.set(op_id("SparseReshape"), reshape);
  kernels.set(op_id("SparseSegmentMean"), segment_reduction);
  kernels.set(op_id("SparseSegmentSum"), segment_reduction);
}

}  // namespace ebb::cpu
