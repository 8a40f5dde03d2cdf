// Operations that move data and compute nothing.
#include "ops/params/movement.hpp"

#include "ebb/base/checked.hpp"
#include "ops/axes.hpp"
#include "ops/copy_plan.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"
#include "ops/moves.hpp"
#include "ops/words.hpp"

namespace ebb::ops {
namespace {

// Whether begin and the last of `size` steps from there are within the extent.
bool stays_within(std::int64_t begin, std::int64_t size, std::int64_t stride,
                  std::int64_t extent) noexcept {
  std::int64_t last = 0;
  return size == 0 ||
         (begin >= 0 && begin < extent && !__builtin_mul_overflow(size - 1, stride, &last) &&
          !__builtin_add_overflow(last, begin, &last) && last >= 0 && last < extent);
}

void strided_slice(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList begin = list_for_axes(call, attribute_at("StridedSlice", "begin"));
  const IntList strides = list_for_axes(call, attribute_at("StridedSlice", "strides"));
  const IntList size = list_for_axes(call, attribute_at("StridedSlice", "size"));
  const Strides steps = strides_of(x);
  const Shape shape = call.shape(attribute_at("StridedSlice", "size"));
  for (std::size_t i = 0; i < size.size(); ++i) {
    call.check(stays_within(begin[i], size[i], strides[i], x.shape.dims()[i]),
               "axis {} from {} in {} steps of {} leaves its extent of {}", i, begin[i], size[i],
               strides[i], x.shape.dims()[i]);
  }
  if (make_if_empty(call, x.dtype, shape)) return;
  const auto to = dense_strides(shape);
  CopyPlan plan;
  for (std::size_t i = 0; i < size.size(); ++i) {
    plan.from_offset = checked_add(plan.from_offset, checked_mul(begin[i], steps[i]));
    // One element has no next, and a stride that leads out of the tensor is none's.
    plan.add(size[i], size[i] == 1 ? 0 : checked_mul(strides[i], steps[i]), to[i]);
  }
  view_or_move(call, x.dtype, shape, plan);
}

void reverse(OpCall& call) { reverse_axes(call, call.integers(attribute_at("Reverse", "dims"))); }

void tile(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList reps = list_for_axes(call, attribute_at("Tile", "reps"));
  IntList dims;
  for (std::size_t i = 0; i < reps.size(); ++i) {
    call.check(reps[i] >= 0, "reps {} were given, at least 0 is allowed", reps);
    dims.push_back(checked_mul(x.shape.dims()[i], reps[i]));
  }
  const Shape shape(dims);
  if (make_if_empty(call, x.dtype, shape)) return;
  const Strides from = strides_of(x), to = dense_strides(shape);
  CopyPlan plan;
  for (std::size_t i = 0; i < reps.size(); ++i) {
    plan.add(reps[i], 0, checked_mul(to[i], x.shape.dims()[i]));
    plan.add(x.shape.dims()[i], from[i], to[i]);
  }
  move(call, shape, plan);
}

void broadcast_to(OpCall& call) {
  const Operand& x = call.input(0);
  const Shape shape = call.shape(attribute_at("BroadcastTo", "shape"));
  call.check(x.shape.rank() <= shape.rank() && broadcast(call, x.shape, shape) == shape,
             "shape {} was given, {} does not broadcast to it", shape, x.shape);
  const Strides from = strides_of(x), to = dense_strides(shape);
  const std::size_t added = shape.rank() - x.shape.rank();
  CopyPlan plan;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const bool repeated = i < added || x.shape.dims()[i - added] == 1;
    plan.add(shape.dims()[i], repeated ? 0 : from[i - added], to[i]);
  }
  move(call, shape, plan);
}

void pad(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList paddings = list_for_axes(call, attribute_at("PadV2", "paddings"), 2);
  IntList dims;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    call.check(paddings[2 * i] >= 0 && paddings[2 * i + 1] >= 0,
               "paddings {} were given, at least 0 is allowed", paddings);
    dims.push_back(
        checked_add(checked_add(x.shape.dims()[i], paddings[2 * i]), paddings[2 * i + 1]));
  }
  const Shape shape(dims);
  if (make_if_empty(call, x.dtype, shape)) return;
  const Strides to = dense_strides(shape);
  CopyPlan plan;
  plan.add(x.shape, strides_of(x), to);
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    plan.to_offset = checked_add(plan.to_offset, checked_mul(paddings[2 * i], to[i]));
  }
  move(call, shape, plan);
  call.params<MoveParams>().fills = elements(shape) != elements(x.shape);
  call.params<MoveParams>().value = call.number(attribute_at("PadV2", "constantValue"));
}

void mirror_pad(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList paddings = list_for_axes(call, attribute_at("MirrorPad", "paddings"), 2);
  MirrorParams params;
  params.symmetric =
      checked_word<MirrorMode>(call, attribute_at("MirrorPad", "mode")) == MirrorMode::kSymmetric;
  IntList dims;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    const std::int64_t most = x.shape.dims()[i] - (params.symmetric ? 0 : 1);
    const std::int64_t before = paddings[2 * i], after = paddings[2 * i + 1];
    call.check(before >= 0 && after >= 0 && before <= most && after <= most,
               "paddings {} and {} were given for axis {}, 0 to {} are allowed", before, after, i,
               most);
    params.before[i] = before;
    dims.push_back(checked_add(checked_add(x.shape.dims()[i], before), after));
  }
  call.make(x.dtype, Shape(dims));
  call.params(params);
}

void diag(OpCall& call) {
  const Operand& x = call.input(0);
  call.check(2 * x.shape.rank() <= kMaxRank, "rank {} was given, at most {} is allowed",
             x.shape.rank(), kMaxRank / 2);
  IntList dims(x.shape.dims());
  for (const std::int64_t dim : x.shape.dims()) dims.push_back(dim);
  if (make_if_empty(call, x.dtype, Shape(dims))) return;
  const std::int64_t count = elements(x.shape);
  Strides to = dense_strides(x.shape);
  for (std::int64_t& step : to) step = checked_mul(step, count + 1);
  CopyPlan plan;
  plan.add(x.shape, strides_of(x), to);
  move(call, Shape(dims), plan);
  call.params<MoveParams>().fills = true;
}

// ---- joining and cutting

void check_alike(OpCall& call, std::size_t axis) {
  const Operand& first = call.input(0);
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    const Operand& each = call.input(i);
    call.check(each.dtype == first.dtype, "input {} is {}, the first is {}: dtypes must be alike",
               i, name_of(each.dtype), name_of(first.dtype));
    bool alike = each.shape.rank() == first.shape.rank();
    for (std::size_t j = 0; alike && j < first.shape.rank(); ++j) {
      alike = j == axis || each.shape.dims()[j] == first.shape.dims()[j];
    }
    if (alike) continue;
    if (axis == kMaxRank) {
      call.fail("input {} is {}, the first is {}: shapes must be alike", i, each.shape,
                first.shape);
    }
    call.fail("input {} is {}, the first is {}: they may differ in axis {} only", i, each.shape,
              first.shape, axis);
  }
}

void concat(OpCall& call) {
  const Shape& first = call.input(0).shape;
  const std::size_t axis =
      checked_axis(call, call.integer(attribute_at("Concat", "axis")), first.rank());
  check_alike(call, axis);
  IntList dims(first.dims());
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    dims[axis] = checked_add(dims[axis], call.input(i).shape.dims()[axis]);
  }
  call.make(call.input(0).dtype, Shape(dims));
  call.params(PartsParams{.axis = axis});
}

void pack(OpCall& call) {
  const Shape& first = call.input(0).shape;
  call.check(first.rank() < kMaxRank, "rank {} was given, at most {} is allowed", first.rank(),
             kMaxRank - 1);
  const std::size_t axis =
      checked_axis(call, call.integer(attribute_at("Pack", "axis")), first.rank() + 1);
  check_alike(call, kMaxRank);
  IntList dims;
  for (std::size_t i = 0; i <= first.rank(); ++i) {
    if (i == axis) dims.push_back(static_cast<std::int64_t>(call.inputs()));
    if (i < first.rank()) dims.push_back(first.dims()[i]);
  }
  call.make(call.input(0).dtype, Shape(dims));
  call.params(PartsParams{.axis = axis, .stacked = true});
}

void split(OpCall& call) {
  const Operand& x = call.input(0);
  const std::size_t axis =
      checked_axis(call, call.integer(attribute_at("SplitV", "axis")), x.shape.rank());
  const std::span<const double> sizes = call.numbers(attribute_at("SplitV", "sizeSplits"));
  std::int64_t sum = 0;
  for (const double size : sizes) {
    call.check(size >= 0, "a size of {} was given, at least 0 is allowed", size);
    sum = checked_add(sum, static_cast<std::int64_t>(size));
  }
  call.check(sum == x.shape.dims()[axis], "sizes of {} together were given, axis {} has {}", sum,
             axis, x.shape.dims()[axis]);
  call.check_room(sizes.size());
  IntList dims(x.shape.dims());
  for (const double size : sizes) {
    dims[axis] = static_cast<std::int64_t>(size);
    call.make(x.dtype, Shape(dims));
  }
  call.params(PartsParams{.axis = axis});
}

void unpack(OpCall& call) {
  const Operand& x = call.input(0);
  const std::size_t axis =
      checked_axis(call, call.integer(attribute_at("Unpack", "axis")), x.shape.rank());
  IntList dims;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    if (i != axis) dims.push_back(x.shape.dims()[i]);
  }
  call.check_room(static_cast<std::uint64_t>(x.shape.dims()[axis]));
  for (std::int64_t i = 0; i < x.shape.dims()[axis]; ++i) call.make(x.dtype, Shape(dims));
  call.params(PartsParams{.axis = axis, .stacked = true});
}

void depth_to_space(OpCall& call) {
  const Operand& x = call.input(0);
  call.check(x.shape.rank() == 4, "rank {} was given, 4 is allowed", x.shape.rank());
  const std::int64_t block = call.integer(attribute_at("DepthToSpace", "blockSize"));
  const bool first = call.boolean(attribute_at("DepthToSpace", "channelsFirst"));
  const auto d = x.shape.dims();
  const std::int64_t height = d[first ? 2 : 1], width = d[first ? 3 : 2], depth = d[first ? 1 : 3];
  call.check(block >= 1 && block <= kMostStep && depth % checked_mul(block, block) == 0,
             "a depth of {} was given, a multiple of {} squared is needed", depth, block);
  const std::int64_t deep = depth / checked_mul(block, block);
  const std::int64_t high = checked_mul(height, block), wide = checked_mul(width, block);
  const Shape out = first ? Shape{d[0], deep, high, wide} : Shape{d[0], high, wide, deep};
  if (make_if_empty(call, x.dtype, out)) return;
  const Strides from = strides_of(x), to = dense_strides(out);
  const std::size_t h = first ? 2 : 1, w = h + 1, c = first ? 1 : 3;
  CopyPlan plan;
  plan.add(d[0], from[0], to[0]);
  const std::int64_t across = checked_mul(from[c], deep), down = checked_mul(across, block);
  plan.add(height, from[h], checked_mul(to[h], block));
  plan.add(block, down, to[h]);
  plan.add(width, from[w], checked_mul(to[w], block));
  plan.add(block, across, to[w]);
  plan.add(deep, from[c], to[c]);
  move(call, out, plan);
}

void matrix_band_part(OpCall& call) {
  const Operand& x = call.input(0);
  call.check(x.shape.rank() >= 2, "rank {} was given, at least 2 is allowed", x.shape.rank());
  for (std::size_t i = 1; i < 3; ++i) {
    call.check(elements(call.input(i).shape) == 1, "input {} has shape {}, a scalar is needed", i,
               call.input(i).shape);
    call.convert_input(i, DType::kInt32);
  }
  call.make(x.dtype, x.shape);
}

void broadcast_args(OpCall& call) {
  for (std::size_t i = 0; i < 2; ++i) {
    call.check(call.input(i).shape.rank() == 1, "input {} has rank {}, 1 is needed", i,
               call.input(i).shape.rank());
    call.convert_input(i, DType::kInt32);
  }
  call.make(DType::kInt32,
            Shape{std::max(call.input(0).shape.dims()[0], call.input(1).shape.dims()[0])});
}

}  // namespace

void add_movement(MeaningTable& table) {
  table.set(op_id("StridedSlice"), strided_slice, Strided::kFirst);
  table.set(op_id("Reverse"), reverse, Strided::kFirst);
  table.set(op_id("Tile"), tile, Strided::kFirst);
  table.set(op_id("BroadcastTo"), broadcast_to, Strided::kFirst);
  table.set(op_id("PadV2"), pad, Strided::kFirst);
  table.set(op_id("MirrorPad"), mirror_pad, Strided::kFirst);
  table.set(op_id("Diag"), diag, Strided::kFirst);
  table.set(op_id("Concat"), concat, Strided::kAll);
  table.set(op_id("Pack"), pack, Strided::kAll);
  table.set(op_id("SplitV"), split, Strided::kFirst);
  table.set(op_id("Unpack"), unpack, Strided::kFirst);
  table.set(op_id("DepthToSpace"), depth_to_space, Strided::kFirst);
  table.set(op_id("MatrixBandPart"), matrix_band_part, Strided::kNone, Data::kChecked);
  table.set(op_id("BroadcastArgs"), broadcast_args);
}

}  // namespace ebb::ops
