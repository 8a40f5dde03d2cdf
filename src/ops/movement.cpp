// Operations that move data and compute nothing.
#include "ops/params/movement.hpp"

#include "ops/axes.hpp"
#include "ops/copy_plan.hpp"
#include "ops/families.hpp"

namespace ebb::ops {
namespace {

void move(OpCall& call, const Shape& shape, const CopyPlan& plan) {
  call.make(call.input(0).dtype, shape);
  MoveParams& params = call.params(MoveParams{.plan = plan});
  params.plan.simplify();
}

// What a view may keep alive at most, in its own sizes: a small part of a large tensor is copied.
constexpr std::uint64_t kMostKept = 4;

// Between neighbours along the last axis that has some.
std::int64_t inner_step(const Shape& shape, const Strides& strides) {
  for (std::size_t i = shape.rank(); i-- > 0;) {
    if (shape.dims()[i] != 1) return strides[i];
  }
  return 1;
}

bool is_worth_a_view(const Operand& x, DType dtype, const Shape& shape, const Strides& strides) {
  const std::uint64_t bytes = bytes_of(shape, size_of(dtype));
  if (bytes == 0) return false;
  if (is_dense(shape, strides)) return true;
  // A GPU reads neighbours together; where they lie apart, one copy by tiles costs less.
  if (x.memory.device().link() != nullptr && inner_step(shape, strides) != 1) return false;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (strides[i] < 0) return false;  // backwards through memory: no kernel gains by it
  }
  return x.memory.data().size() / kMostKept <= bytes;
}

// The operand's own memory seen in another way, where that is worth it; else a copy. The plan has
// the axes of the shape, in elements of the dtype.
void view_or_move(OpCall& call, DType dtype, const Shape& shape, const CopyPlan& plan) {
  Strides strides{};
  for (std::size_t i = 0; i < shape.rank(); ++i) strides[i] = plan.from_step[i];
  if (is_worth_a_view(call.input(0), dtype, shape, strides)) {
    call.view(0, static_cast<std::uint64_t>(plan.from_offset) * size_of(dtype), dtype, shape,
              strides);
    return call.done();
  }
  call.make(dtype, shape);
  call.params(MoveParams{.plan = plan}).plan.simplify();
}

IntList list_for_axes(OpCall& call, std::size_t attribute, std::size_t times = 1) {
  const std::size_t rank = call.input(0).shape.rank();
  const IntList list = call.integers(attribute);
  call.check(list.size() == times * rank, "{} has {} values, {} are needed for rank {}",
             call.spec().attributes[attribute].name, list.size(), times * rank, rank);
  return list;
}

void slice(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList begin = list_for_axes(call, 0);
  IntList size = list_for_axes(call, 1);
  const Strides steps = strides_of(x);
  CopyPlan plan;
  for (std::size_t i = 0; i < size.size(); ++i) {
    const std::int64_t dim = x.shape.dims()[i];
    if (size[i] == -1) size[i] = dim - begin[i];
    call.check(begin[i] >= 0 && size[i] >= 0 && begin[i] + size[i] <= dim,
               "begin {} and size {} were given for axis {} of extent {}", begin[i], size[i], i,
               dim);
    plan.from_offset += begin[i] * steps[i];
  }
  const Shape shape{std::span<const std::int64_t>(size)};
  plan.add(shape, steps, dense_strides(shape));
  view_or_move(call, x.dtype, shape, plan);
}

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
  const IntList begin = list_for_axes(call, 0), strides = list_for_axes(call, 1);
  const IntList size = list_for_axes(call, 2);
  const Strides steps = strides_of(x);
  CopyPlan plan;
  const Shape shape = call.shape(2);
  const auto to = dense_strides(shape);
  for (std::size_t i = 0; i < size.size(); ++i) {
    call.check(stays_within(begin[i], size[i], strides[i], x.shape.dims()[i]),
               "axis {} from {} in {} steps of {} leaves its extent of {}", i, begin[i], size[i],
               strides[i], x.shape.dims()[i]);
    plan.from_offset += begin[i] * steps[i];
    plan.add(size[i], strides[i] * steps[i], to[i]);
  }
  if (elements(shape) == 0) plan.from_offset = 0;
  view_or_move(call, x.dtype, shape, plan);
}

void transpose(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList perm = list_for_axes(call, 0);
  const Strides steps = strides_of(x);
  std::array<bool, kMaxRank> seen{};
  IntList dims;
  for (const std::int64_t axis : perm) {
    const std::size_t from = checked_axis(call, axis, x.shape.rank());
    call.check(!seen[from], "perm {} names axis {} twice", dims_to_string(perm), from);
    seen[from] = true;
    dims.push_back(x.shape.dims()[from]);
  }
  const Shape shape(dims);
  const auto to = dense_strides(shape);
  CopyPlan plan;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    plan.add(dims[i], steps[checked_axis(call, perm[i], dims.size())], to[i]);
  }
  view_or_move(call, x.dtype, shape, plan);
}

void reverse_axes(OpCall& call, const IntList& axes) {
  const Operand& x = call.input(0);
  const Strides from = strides_of(x), to = dense_strides(x.shape);
  std::array<bool, kMaxRank> reversed{};
  for (const std::int64_t axis : axes) reversed[checked_axis(call, axis, x.shape.rank())] = true;
  CopyPlan plan;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    const std::int64_t dim = x.shape.dims()[i];
    plan.add(dim, reversed[i] ? -from[i] : from[i], to[i]);
    if (reversed[i] && dim > 0) plan.from_offset += (dim - 1) * from[i];
  }
  move(call, x.shape, plan);
}

void reverse(OpCall& call) { reverse_axes(call, call.integers(0)); }

void flip_left_right(OpCall& call) {
  call.check(call.input(0).shape.rank() == 4, "rank {} was given, 4 is allowed",
             call.input(0).shape.rank());
  reverse_axes(call, {2});
}

void tile(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList reps = list_for_axes(call, 0);
  IntList dims;
  for (std::size_t i = 0; i < reps.size(); ++i) {
    call.check(reps[i] >= 0, "reps {} were given, at least 0 is allowed", dims_to_string(reps));
    dims.push_back(x.shape.dims()[i] * reps[i]);
  }
  const Shape shape(dims);
  const Strides from = strides_of(x), to = dense_strides(shape);
  CopyPlan plan;
  for (std::size_t i = 0; i < reps.size(); ++i) {
    plan.add(reps[i], 0, to[i] * x.shape.dims()[i]);
    plan.add(x.shape.dims()[i], from[i], to[i]);
  }
  move(call, shape, plan);
}

void broadcast_to(OpCall& call) {
  const Operand& x = call.input(0);
  const Shape shape = call.shape(0);
  call.check(x.shape.rank() <= shape.rank() && broadcast(call, x.shape, shape) == shape,
             "shape {} was given, {} does not broadcast to it", shape.to_string(),
             x.shape.to_string());
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
  const IntList paddings = list_for_axes(call, 0, 2);
  IntList dims;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    call.check(paddings[2 * i] >= 0 && paddings[2 * i + 1] >= 0,
               "paddings {} were given, at least 0 is allowed", dims_to_string(paddings));
    dims.push_back(x.shape.dims()[i] + paddings[2 * i] + paddings[2 * i + 1]);
  }
  const Shape shape(dims);
  const Strides to = dense_strides(shape);
  CopyPlan plan;
  plan.add(x.shape, strides_of(x), to);
  for (std::size_t i = 0; i < x.shape.rank(); ++i) plan.to_offset += paddings[2 * i] * to[i];
  move(call, shape, plan);
  call.params<MoveParams>().fills = elements(shape) != elements(x.shape);
  call.params<MoveParams>().value = call.number(1);
}

void mirror_pad(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList paddings = list_for_axes(call, 0, 2);
  MirrorParams params{.symmetric = call.integer(1) == 1};
  IntList dims;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    const std::int64_t most = x.shape.dims()[i] - (params.symmetric ? 0 : 1);
    const std::int64_t before = paddings[2 * i], after = paddings[2 * i + 1];
    call.check(before >= 0 && after >= 0 && before <= most && after <= most,
               "paddings {} and {} were given for axis {}, 0 to {} are allowed", before, after, i,
               most);
    params.before[i] = before;
    dims.push_back(x.shape.dims()[i] + before + after);
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
  const std::int64_t count = elements(x.shape);
  Strides to = dense_strides(x.shape);
  for (std::int64_t& step : to) step *= count + 1;
  CopyPlan plan;
  plan.add(x.shape, strides_of(x), to);
  move(call, Shape(dims), plan);
  call.params<MoveParams>().fills = true;
}

template <int kPart>
void part_of_complex(OpCall& call) {
  const Operand& x = call.input(0);
  if (x.dtype != DType::kComplex64) call.fail_dtype(0, "complex64");
  Strides steps = strides_of(x);
  for (std::int64_t& step : steps) step *= 2;  // in floats
  CopyPlan plan{.from_offset = kPart};
  plan.add(x.shape, steps, dense_strides(x.shape));
  view_or_move(call, DType::kFloat32, x.shape, plan);
}

void complex(OpCall& call) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.input(i).dtype != DType::kFloat32) call.convert_input(i, DType::kFloat32);
  }
  call.check(call.input(0).shape == call.input(1).shape,
             "real is {} and imag is {}, they must be alike", call.input(0).shape.to_string(),
             call.input(1).shape.to_string());
  call.make(DType::kComplex64, call.input(0).shape);
}

// ---- joining and cutting

void check_alike(OpCall& call, std::size_t axis) {
  const Operand& first = call.input(0);
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    const Operand& each = call.input(i);
    bool alike = each.dtype == first.dtype && each.shape.rank() == first.shape.rank();
    for (std::size_t j = 0; alike && j < first.shape.rank(); ++j) {
      alike = j == axis || each.shape.dims()[j] == first.shape.dims()[j];
    }
    call.check(alike, "input {} is {} {}, the first is {} {}: they may differ in axis {} only", i,
               name_of(each.dtype), each.shape.to_string(), name_of(first.dtype),
               first.shape.to_string(), axis);
  }
}

void concat(OpCall& call) {
  const Shape& first = call.input(0).shape;
  const std::size_t axis = checked_axis(call, call.integer(0), first.rank());
  check_alike(call, axis);
  IntList dims(first.dims());
  for (std::size_t i = 1; i < call.inputs(); ++i) dims[axis] += call.input(i).shape.dims()[axis];
  call.make(call.input(0).dtype, Shape(dims));
  call.params(PartsParams{.axis = axis});
}

void pack(OpCall& call) {
  const Shape& first = call.input(0).shape;
  call.check(first.rank() < kMaxRank, "rank {} was given, at most {} is allowed", first.rank(),
             kMaxRank - 1);
  const std::size_t axis = checked_axis(call, call.integer(0), first.rank() + 1);
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
  const std::size_t axis = checked_axis(call, call.integer(1), x.shape.rank());
  const std::span<const double> sizes = call.numbers(0);
  std::int64_t sum = 0;
  for (const double size : sizes) {
    call.check(size >= 0, "a size of {} was given, at least 0 is allowed", size);
    sum += static_cast<std::int64_t>(size);
  }
  call.check(sum == x.shape.dims()[axis], "sizes of {} together were given, axis {} has {}", sum,
             axis, x.shape.dims()[axis]);
  IntList dims(x.shape.dims());
  for (const double size : sizes) {
    dims[axis] = static_cast<std::int64_t>(size);
    call.make(x.dtype, Shape(dims));
  }
  call.params(PartsParams{.axis = axis});
}

void unpack(OpCall& call) {
  const Operand& x = call.input(0);
  const std::size_t axis = checked_axis(call, call.integer(0), x.shape.rank());
  IntList dims;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    if (i != axis) dims.push_back(x.shape.dims()[i]);
  }
  for (std::int64_t i = 0; i < x.shape.dims()[axis]; ++i) call.make(x.dtype, Shape(dims));
  call.params(PartsParams{.axis = axis, .stacked = true});
}

void depth_to_space(OpCall& call) {
  const Operand& x = call.input(0);
  call.check(x.shape.rank() == 4, "rank {} was given, 4 is allowed", x.shape.rank());
  const std::int64_t block = call.integer(0);
  const bool first = call.boolean(1);
  const auto d = x.shape.dims();
  const std::int64_t height = d[first ? 2 : 1], width = d[first ? 3 : 2], depth = d[first ? 1 : 3];
  call.check(block >= 1 && block <= kMostStep && depth % (block * block) == 0,
             "a depth of {} was given, a multiple of {} squared is needed", depth, block);
  const std::int64_t deep = depth / (block * block);
  const Shape out = first ? Shape{d[0], deep, height * block, width * block}
                          : Shape{d[0], height * block, width * block, deep};
  const Strides from = strides_of(x), to = dense_strides(out);
  const std::size_t h = first ? 2 : 1, w = h + 1, c = first ? 1 : 3;
  CopyPlan plan;
  plan.add(d[0], from[0], to[0]);
  plan.add(height, from[h], to[h] * block);
  plan.add(block, from[c] * block * deep, to[h]);
  plan.add(width, from[w], to[w] * block);
  plan.add(block, from[c] * deep, to[w]);
  plan.add(deep, from[c], to[c]);
  move(call, out, plan);
}

void matrix_band_part(OpCall& call) {
  const Operand& x = call.input(0);
  call.check(x.shape.rank() >= 2, "rank {} was given, at least 2 is allowed", x.shape.rank());
  for (std::size_t i = 1; i < 3; ++i) {
    call.check(elements(call.input(i).shape) == 1, "input {} has shape {}, a scalar is needed", i,
               call.input(i).shape.to_string());
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
  table.set(op_id("Slice"), slice, Strided::kFirst);
  table.set(op_id("StridedSlice"), strided_slice, Strided::kFirst);
  table.set(op_id("Transpose"), transpose, Strided::kFirst);
  table.set(op_id("Reverse"), reverse, Strided::kFirst);
  table.set(op_id("FlipLeftRight"), flip_left_right, Strided::kFirst);
  table.set(op_id("Tile"), tile, Strided::kFirst);
  table.set(op_id("BroadcastTo"), broadcast_to, Strided::kFirst);
  table.set(op_id("PadV2"), pad, Strided::kFirst);
  table.set(op_id("MirrorPad"), mirror_pad, Strided::kFirst);
  table.set(op_id("Diag"), diag, Strided::kFirst);
  table.set(op_id("Real"), part_of_complex<0>, Strided::kFirst);
  table.set(op_id("Imag"), part_of_complex<1>, Strided::kFirst);
  table.set(op_id("Complex"), complex, Strided::kAll);
  table.set(op_id("Concat"), concat, Strided::kAll);
  table.set(op_id("Pack"), pack, Strided::kAll);
  table.set(op_id("SplitV"), split, Strided::kFirst);
  table.set(op_id("Unpack"), unpack, Strided::kFirst);
  table.set(op_id("DepthToSpace"), depth_to_space, Strided::kFirst);
  table.set(op_id("MatrixBandPart"), matrix_band_part);
  table.set(op_id("BroadcastArgs"), broadcast_args);
}

}  // namespace ebb::ops
