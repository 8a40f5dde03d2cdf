// Gathers and scatters.
#include "ops/params/indexing.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/accumulate.hpp"
#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/copy.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/parallel.hpp"
#include "ops/axes.hpp"
#include "ops/copy_plan.hpp"

namespace ebb::cpu {
namespace {

using ops::NdParams;
using ops::op_id;
using ops::OpCall;

constexpr std::int64_t kGrainBytes = 512 << 10;

void check_indices(const OpCall& call, const std::int32_t* indices, std::int64_t count,
                   std::int64_t extent) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (indices[i] < 0 || indices[i] >= extent) [[unlikely]] {
      call.fail("{}: the index value {} is not in [0, {}]", call.spec().name, indices[i],
                extent - 1);
    }
  }
}

void gather(OpCall& call) {
  const ops::GatherParams& p = call.params<ops::GatherParams>();
  const std::int32_t* indices = call.in<std::int32_t>(1);
  check_indices(call, indices, ops::elements(call.input(1).shape), p.extent);
  if (call.output(0).shape.empty()) return;
  const auto size = static_cast<std::int64_t>(size_of(call.input(0).dtype));
  const std::int64_t bytes = p.slice * size;
  const std::byte* from = call.input(0).data;
  std::byte* to = call.output(0).data;
  const std::int64_t grain =
      std::max<std::int64_t>(1, kGrainBytes / std::max<std::int64_t>(1, bytes));
  parallel_for(p.batch * p.outer * p.count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t row = at / p.count;  // batch and outer
      const std::int64_t index = indices[row / p.outer * p.count + at % p.count];
      std::memcpy(to + at * bytes, from + (row * p.row_step + index * p.extent_step) * size,
                  static_cast<std::size_t>(bytes));
    }
  });
}

void check_row(const OpCall& call, const NdParams& p, const std::int32_t* row) {
  for (std::int64_t i = 0; i < p.depth; ++i) {
    const std::int64_t extent = p.extent[static_cast<std::size_t>(i)];
    if (row[i] < 0 || row[i] >= extent) [[unlikely]] {
      call.fail("Invalid indices: {} on axis {} does not index into an extent of {}", row[i], i,
                extent);
    }
  }
}

// Where the slice lies that an index row names, in slices. There are some: their number is one.
std::int64_t slice_at(const OpCall& call, const NdParams& p, const std::int32_t* row) {
  check_row(call, p, row);
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < p.depth; ++i) at += row[i] * p.step[static_cast<std::size_t>(i)];
  return at;
}

void gather_nd(OpCall& call) {
  const NdParams& p = call.params<NdParams>();
  const std::int32_t* indices = call.in<std::int32_t>(1);
  if (call.output(0).shape.empty()) {
    if (p.depth == 0) return;  // there may be any number of those
    for (std::int64_t i = 0; i < p.count; ++i) check_row(call, p, indices + i * p.depth);
    return;
  }
  const std::int64_t bytes = p.slice * static_cast<std::int64_t>(size_of(call.input(0).dtype));
  for (std::int64_t i = 0; i < p.count; ++i) {
    const std::int64_t at = slice_at(call, p, indices + i * p.depth);
    std::memcpy(call.output(0).data + i * bytes, call.input(0).data + at * bytes,
                static_cast<std::size_t>(bytes));
  }
}

// Calls each(target element, update element) for all updates, in order.
template <typename T, typename Each>
void scatter(OpCall& call, const std::int32_t* indices, const T* updates, Each each) {
  const NdParams& p = call.params<NdParams>();
  T* out = call.out<T>(0);
  for (std::int64_t i = 0; i < p.count; ++i) {
    T* to = out + slice_at(call, p, indices + i * p.depth) * p.slice;
    const T* from = p.one_update ? updates : updates + i * p.slice;
    for (std::int64_t j = 0; j < p.slice; ++j) each(to[j], p.one_update ? *from : from[j]);
  }
}

void scatter_nd(OpCall& call) {
  ops::Output& out = call.output(0);
  fill(out.dtype, out.data, ops::elements(out.shape), 0);
  if (ops::elements(out.shape) == 0) return;
  visit(out.dtype, [&]<typename T>(Type<T>) {
    scatter<T>(call, call.in<std::int32_t>(0), call.in<T>(1), add_to<T>);
  });
}

void tensor_scatter_update(OpCall& call) {
  ops::Output& out = call.output(0);
  std::memcpy(out.data, call.input(0).data, bytes_of(out.shape, size_of(out.dtype)));
  if (ops::elements(out.shape) == 0) return;
  visit_size(out.dtype, [&]<typename T>(Type<T>) {
    scatter<T>(call, call.in<std::int32_t>(1), call.in<T>(2), [](T& to, T from) { to = from; });
  });
}

void sparse_to_dense(OpCall& call) {
  ops::Output& out = call.output(0);
  const std::int64_t count = ops::elements(out.shape);
  if (count == 0) return;
  visit_size(out.dtype, [&]<typename T>(Type<T>) {
    std::fill_n(call.out<T>(0), count, *call.in<T>(2));
    scatter<T>(call, call.in<std::int32_t>(0), call.in<T>(1), [](T& to, T from) { to = from; });
  });
}

void where(OpCall& call) {
  const Operand& x = call.input(0);
  const std::uint8_t* condition = call.in<std::uint8_t>(0);
  const std::int64_t count = ops::elements(x.shape);
  const std::int64_t found = count - std::count(condition, condition + count, 0);
  const std::size_t rank = x.shape.rank();
  call.make(DType::kInt32, Shape{found, static_cast<std::int64_t>(rank)});
  const auto steps = dense_strides(x.shape);
  std::int32_t* out = call.out<std::int32_t>(0);
  for (std::int64_t at = 0; at < count; ++at) {
    if (condition[at] == 0) continue;
    std::int64_t rest = at;
    for (std::size_t i = 0; i < rank; ++i) {
      *out++ = static_cast<std::int32_t>(rest / steps[i]);
      rest %= steps[i];
    }
  }
}

}  // namespace

void add_indexing(KernelTable& kernels) {
  kernels.set(op_id("GatherV2"), gather);
  kernels.set(op_id("GatherNd"), gather_nd);
  kernels.set(op_id("ScatterNd"), scatter_nd);
  kernels.set(op_id("TensorScatterUpdate"), tensor_scatter_update);
  kernels.set(op_id("SparseToDense"), sparse_to_dense);
  kernels.set(op_id("Where"), where);
}

}  // namespace ebb::cpu
