// Sparse tensors as lists of coordinates. Messages of bad data are TensorFlow's: programs and its
// tests know them.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/copy.hpp"
#include "backends/cpu/element.hpp"
#include "backends/cpu/families.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

std::vector<std::int64_t> values_of(OpCall& call, std::size_t input) {
  const std::int32_t* values = call.in<std::int32_t>(input);
  return {values, values + ops::elements(call.input(input).shape)};
}

// Where each row's entries end, rows without any counted as one.
struct RowEnds {
  std::vector<std::int64_t> ends;
  std::vector<bool> empty;
  std::int64_t begin(std::int64_t row) const {
    return row == 0 ? 0 : ends[static_cast<std::size_t>(row - 1)];
  }
};

RowEnds row_ends(OpCall& call, std::int64_t entries, std::int64_t rank, std::int64_t rows) {
  const std::int32_t* indices = call.in<std::int32_t>(0);
  RowEnds result{std::vector<std::int64_t>(static_cast<std::size_t>(rows)),
                 std::vector<bool>(static_cast<std::size_t>(rows))};
  for (std::int64_t i = 0; i < entries; ++i) {
    const std::int64_t row = indices[i * rank];
    call.check(row >= 0, "indices({}, 0) is invalid: {} < 0", i, row);
    call.check(row < rows, "indices({}, 0) is invalid: {} >= {}", i, row, rows);
    ++result.ends[static_cast<std::size_t>(row)];
  }
  std::int64_t end = 0;
  for (std::size_t row = 0; row < result.ends.size(); ++row) {
    result.empty[row] = result.ends[row] == 0;
    end += std::max<std::int64_t>(result.ends[row], 1);
    result.ends[row] = end;
  }
  return result;
}

void fill_empty_rows(OpCall& call) {
  const std::int64_t entries = call.input(0).shape.dims()[0], rank = call.input(0).shape.dims()[1];
  const std::int64_t rows = *call.in<std::int32_t>(2);
  call.check(rows > 0 || entries == 0,
             "Received SparseTensor with denseShape[0] = 0 but indices.shape[0] = {}", entries);
  const RowEnds table = row_ends(call, entries, rank, rows);
  const std::int64_t total = rows == 0 ? 0 : table.ends.back();
  const std::int32_t* indices = call.in<std::int32_t>(0);
  call.make(DType::kInt32, Shape{total, rank});
  call.make(call.input(1).dtype, Shape{total});
  call.make(DType::kBool, Shape{rows});
  call.make(DType::kInt32, Shape{entries});
  std::vector<std::int64_t> filled(static_cast<std::size_t>(rows));
  const std::size_t size = size_of(call.input(1).dtype);
  const auto put = [&](std::int64_t at, const std::byte* value) {
    std::memcpy(call.output(1).data + static_cast<std::size_t>(at) * size, value, size);
  };
  for (std::int64_t i = 0; i < entries; ++i) {
    const std::int64_t row = indices[i * rank];
    const std::int64_t at = table.begin(row) + filled[static_cast<std::size_t>(row)]++;
    std::copy_n(indices + i * rank, rank, call.out<std::int32_t>(0) + at * rank);
    put(at, call.input(1).data + static_cast<std::size_t>(i) * size);
    call.out<std::int32_t>(3)[i] = static_cast<std::int32_t>(at);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool empty = table.empty[static_cast<std::size_t>(row)];
    call.out<std::uint8_t>(2)[row] = empty ? 1 : 0;
    if (!empty) continue;
    std::int32_t* coordinates = call.out<std::int32_t>(0) + table.begin(row) * rank;
    std::fill_n(coordinates, rank, 0);
    coordinates[0] = static_cast<std::int32_t>(row);
    put(table.begin(row), call.input(3).data);
  }
}

std::int64_t product(const std::vector<std::int64_t>& values) {
  std::int64_t result = 1;
  for (const std::int64_t each : values) result *= each;
  return result;
}

// The new shape with its -1 worked out.
std::vector<std::int64_t> resolved(OpCall& call, const std::vector<std::int64_t>& before,
                                   std::vector<std::int64_t> after) {
  const std::int64_t dense = product(before);
  std::int64_t known = 1;
  std::ptrdiff_t open = -1;
  for (std::size_t d = 0; d < after.size(); ++d) {
    if (after[d] == -1) {
      call.check(open == -1, "only one output dimension may be -1, not both {} and {}", open, d);
      open = static_cast<std::ptrdiff_t>(d);
      after[d] = 1;
    } else {
      call.check(after[d] >= 0, "size {} must be non-negative, not {}", d, after[d]);
      known *= after[d];
    }
  }
  if (open != -1) {
    call.check(known > 0,
               "reshape cannot infer the missing input size for an empty tensor unless all "
               "specified input sizes are non-zero");
    call.check(dense % known == 0,
               "Input to reshape is a SparseTensor with {} dense values, but the requested shape "
               "requires a multiple of {}",
               dense, known);
    after[static_cast<std::size_t>(open)] = dense / known;
  }
  call.check(product(after) == dense,
             "Input to reshape is a tensor with {} dense values, but the requested shape has {}",
             dense, product(after));
  return after;
}

void reshape(OpCall& call) {
  const auto before = values_of(call, 1);
  const auto after = resolved(call, before, values_of(call, 2));
  const std::int64_t entries = call.input(0).shape.dims()[0];
  const auto rank = static_cast<std::int64_t>(after.size());
  call.make(DType::kInt32, Shape{entries, rank});
  call.make(DType::kInt32, Shape{rank});
  const std::int32_t* from = call.in<std::int32_t>(0);
  std::int32_t* to = call.out<std::int32_t>(0);
  for (std::int64_t i = 0; i < entries; ++i) {
    std::int64_t flat = 0;
    for (const std::int64_t extent : before) flat = flat * extent + *from++;
    for (std::size_t d = after.size(); d-- > 0;) {
      to[i * rank + static_cast<std::int64_t>(d)] = static_cast<std::int32_t>(flat % after[d]);
      flat /= after[d];
    }
  }
  for (std::size_t d = 0; d < after.size(); ++d) {
    call.out<std::int32_t>(1)[d] = static_cast<std::int32_t>(after[d]);
  }
}

void check_segments(OpCall& call, std::int64_t count, std::int64_t rows, std::int64_t segments) {
  const std::int32_t* indices = call.in<std::int32_t>(1);
  const std::int32_t* ids = call.in<std::int32_t>(2);
  call.check(count == 0 || segments > 0, "segment ids must be >= 0");
  for (std::int64_t i = 0; i < count; ++i) {
    call.check(i == 0 || ids[i] >= ids[i - 1], "segment ids are not increasing");
    call.check(ids[i] >= 0 && ids[i] < segments,
               "Segment id {} out of range [0, {}), possibly because segmentIds input is not "
               "sorted.",
               ids[i], segments);
    call.check(indices[i] >= 0 && indices[i] < rows, "Bad: indices[{}] == {} out of range [0, {})",
               i, indices[i], rows);
  }
}

void segment(OpCall& call) {
  const Shape& shape = call.input(0).shape;
  const std::int64_t count = call.input(1).shape.dims()[0], rows = shape.dims()[0];
  const std::int64_t width = ops::extent(shape, 1, shape.rank());
  const std::int32_t* indices = call.in<std::int32_t>(1);
  const std::int32_t* ids = call.in<std::int32_t>(2);
  const std::int64_t segments = count == 0 ? 0 : ids[count - 1] + 1;
  check_segments(call, count, rows, segments);
  const bool mean = call.spec().id == op_id("SparseSegmentMean");
  ops::IntList dims(shape.dims());
  dims[0] = segments;
  ops::Output& out = call.make(call.input(0).dtype, Shape(dims));
  fill(out.dtype, out.data, segments * width, 0);
  visit(out.dtype, [&]<typename T>(Type<T>) {
    using A = Arithmetic<T>;
    for (std::int64_t i = 0; i < count;) {
      std::int64_t end = i;
      T* to = call.out<T>(0) + ids[i] * width;
      for (; end < count && ids[end] == ids[i]; ++end) {
        const T* from = call.in<T>(0) + indices[end] * width;
        for (std::int64_t j = 0; j < width; ++j) {
          to[j] = convert<T>(convert<A>(to[j]) + convert<A>(from[j]));
        }
      }
      if (mean) {
        const auto share = static_cast<float>(end - i);
        for (std::int64_t j = 0; j < width; ++j) {
          to[j] = convert<T>(convert<A>(to[j]) / static_cast<A>(share));
        }
      }
      i = end;
    }
  });
}

}  // namespace

void add_sparse(KernelTable& kernels) {
  kernels.set(op_id("SparseFillEmptyRows"), fill_empty_rows);
  kernels.set(op_id("SparseReshape"), reshape);
  kernels.set(op_id("SparseSegmentMean"), segment);
  kernels.set(op_id("SparseSegmentSum"), segment);
}

}  // namespace ebb::cpu
