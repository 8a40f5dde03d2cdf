// Kernels that move data.
#include "ops/params/movement.hpp"

#include <cstring>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/copy.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/kernels/movement.hpp"
#include "ops/axes.hpp"
#include "ops/copy_plan.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;
using ops::Output;

void two_moves(OpCall& call) {
  const ops::TwoMovesParams& params = call.params<ops::TwoMovesParams>();
  Output& out = call.output(0);
  const std::size_t size = size_of(out.dtype);
  const std::uint64_t bytes = checked_mul(static_cast<std::uint64_t>(params.between), size);
  std::byte* between = call.workspace(bytes);
  if (params.fills_between) std::memset(between, 0, bytes);
  copy(params.first, size, call.input(0).data, between);
  copy(params.second, size, between, out.data);
}

// Copies parts into the tensor that they are joined to, or out of the one that is cut.
template <bool kJoins>
void copy_parts(OpCall& call) {
  const ops::PartsParams& params = call.params<ops::PartsParams>();
  const Strides whole =
      kJoins ? dense_strides(call.output(0).shape) : ops::strides_of(call.input(0));
  std::int64_t at = 0;
  for (std::size_t i = 0; i < (kJoins ? call.inputs() : call.outputs()); ++i) {
    const Shape& shape = kJoins ? call.input(i).shape : call.output(i).shape;
    const Strides part = kJoins ? ops::strides_of(call.input(i)) : dense_strides(shape);
    Strides in_whole{};
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      in_whole[axis] = whole[axis + (params.stacked && axis >= params.axis ? 1 : 0)];
    }
    ops::CopyPlan plan;
    plan.add(shape, kJoins ? part : in_whole, kJoins ? in_whole : part);
    (kJoins ? plan.to_offset : plan.from_offset) = at * whole[params.axis];
    plan.simplify();
    copy(plan, size_of(call.input(0).dtype), call.input(kJoins ? i : 0).data,
         call.output(kJoins ? 0 : i).data);
    at += params.stacked ? 1 : shape.dims()[params.axis];
  }
}

// The position in an extent that a position outside of it mirrors.
std::int64_t mirrored(std::int64_t position, std::int64_t extent, bool symmetric) {
  const std::int64_t edge = symmetric ? 1 : 0;
  if (position < 0) return -position - edge;
  if (position >= extent) return 2 * extent - position - 2 + edge;
  return position;
}

void mirror_pad(OpCall& call) {
  const ops::MirrorParams& params = call.params<ops::MirrorParams>();
  const Operand& x = call.input(0);
  Output& out = call.output(0);
  const Strides from = ops::strides_of(x), to = dense_strides(out.shape);
  const std::int64_t count = ops::elements(out.shape);
  visit_size(x.dtype, [&]<typename T>(Type<T>) {
    const T* source = call.in<T>(0);
    T* target = call.out<T>(0);
    for (std::int64_t at = 0; at < count; ++at) {
      std::int64_t rest = at, index = 0;
      for (std::size_t i = 0; i < x.shape.rank(); ++i) {
        const std::int64_t position = rest / to[i];
        rest %= to[i];
        index +=
            from[i] * mirrored(position - params.before[i], x.shape.dims()[i], params.symmetric);
      }
      target[at] = source[index];
    }
  });
}

void matrix_band_part(OpCall& call) {
  const Operand& x = call.input(0);
  const std::size_t rank = x.shape.rank();
  const std::int64_t rows = x.shape.dims()[rank - 2], columns = x.shape.dims()[rank - 1];
  const std::int64_t matrices = ops::extent(x.shape, 0, rank - 2);
  std::int64_t lower = *call.in<std::int32_t>(1), upper = *call.in<std::int32_t>(2);
  call.check(lower <= rows && upper <= columns,
             "numLower {} and numUpper {} were given, at most {} and {} are allowed", lower, upper,
             rows, columns);
  if (x.shape.empty()) return;
  if (lower < 0) lower = rows;
  if (upper < 0) upper = columns;
  visit_size(x.dtype, [&]<typename T>(Type<T>) {
    const T* from = call.in<T>(0);
    T* to = call.out<T>(0);
    for (std::int64_t m = 0; m < matrices; ++m) {
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j, ++from, ++to) {
          *to = i - j <= lower && j - i <= upper ? *from : T{};
        }
      }
    }
  });
}

void broadcast_args(OpCall& call) {
  const std::int64_t rank = call.output(0).shape.dims()[0];
  const std::int64_t ranks[2] = {call.input(0).shape.dims()[0], call.input(1).shape.dims()[0]};
  for (std::int64_t i = 0; i < rank; ++i) {
    std::int32_t dims[2] = {1, 1};
    for (std::size_t k = 0; k < 2; ++k) {
      if (i >= rank - ranks[k]) dims[k] = call.in<std::int32_t>(k)[i - (rank - ranks[k])];
    }
    call.check(dims[0] == dims[1] || dims[0] == 1 || dims[1] == 1,
               "extents {} and {} were given, they do not broadcast together", dims[0], dims[1]);
    call.out<std::int32_t>(0)[i] = dims[0] == 1 ? dims[1] : dims[0];
  }
}

}  // namespace

void move(OpCall& call) {
  const ops::MoveParams& params = call.params<ops::MoveParams>();
  Output& out = call.output(0);
  if (params.fills) fill(out.dtype, out.data, ops::elements(out.shape), params.value);
  copy(params.plan, size_of(out.dtype), call.input(0).data, out.data);
}

void add_movement(KernelTable& kernels) {
  for (const char* name :
       {"StridedSlice", "Reverse", "Tile", "BroadcastTo", "PadV2", "Diag", "DepthToSpace"}) {
    kernels.set(ops::find_op(name)->id, move);
  }
  kernels.set(op_id("BatchToSpaceND"), two_moves);
  kernels.set(op_id("SpaceToBatchND"), two_moves);
  kernels.set(op_id("Concat"), copy_parts<true>);
  kernels.set(op_id("Pack"), copy_parts<true>);
  kernels.set(op_id("SplitV"), copy_parts<false>);
  kernels.set(op_id("Unpack"), copy_parts<false>);
  kernels.set(op_id("MirrorPad"), mirror_pad);
  kernels.set(op_id("MatrixBandPart"), matrix_band_part);
  kernels.set(op_id("BroadcastArgs"), broadcast_args);
}

}  // namespace ebb::cpu
