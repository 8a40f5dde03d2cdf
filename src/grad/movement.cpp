// Gradients of views and of data that is moved: what is moved back, and summed where it was
// repeated. Nothing is kept.
#include <array>
#include <cstdlib>

#include "ebb/base/checked.hpp"
#include "grad/backprop.hpp"

namespace ebb::gradients {
namespace {

using ops::attribute_at;

Tensor reversed(const Tensor& x, std::size_t axis) {
  return ops::reverse(x, {static_cast<std::int64_t>(axis)});
}

// Cut along one axis.
Tensor cut(const Tensor& x, std::size_t axis, std::int64_t begin, std::int64_t size) {
  Dims from(x.shape().rank(), 0), count = dims_of(x.shape());
  from[axis] = begin;
  count[axis] = size;
  return ops::slice(x, from, count);
}

// Zeros before and after along one axis, so that it has `size` elements.
Tensor widened(const Tensor& x, std::size_t axis, std::int64_t before, std::int64_t size) {
  Dims paddings(checked_mul(x.shape().rank(), std::size_t{2}), 0);
  paddings[2 * axis] = before;
  paddings[2 * axis + 1] = checked_sub(checked_sub(size, before), x.shape().dims()[axis]);
  if (paddings[2 * axis] == 0 && paddings[2 * axis + 1] == 0) return x;
  return ops::pad_v2(x, paddings);
}

// ---- views

void identity(Backprop& call) { call.give(0, call.dy()); }
void reshape(Backprop& call) { call.give(0, reshaped(call.dy(), call.x_shape())); }

void slice(Backprop& call) {
  const Dims begin = call.integers(attribute_at("Slice", "begin"));
  Tensor dx = call.dy();
  for (std::size_t i = 0; i < begin.size(); ++i) {
    dx = widened(dx, i, begin[i], call.x_shape().dims()[i]);
  }
  call.give(0, dx);
}

void transpose(Backprop& call) {
  const Dims perm = call.axes(attribute_at("Transpose", "perm"), call.x_shape().rank());
  Dims back(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) {
    back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  }
  call.give(0, ops::transpose(call.dy(), back));
}

void real(Backprop& call) { call.give(0, ops::complex(call.dy(), ops::zeros_like(call.dy()))); }
void imag(Backprop& call) { call.give(0, ops::complex(ops::zeros_like(call.dy()), call.dy())); }

// ---- blocks

void batch_to_space(Backprop& call) {
  call.give(0, ops::space_to_batch_nd(call.dy(), call.integers(0), call.integers(1)));
}
void space_to_batch(Backprop& call) {
  call.give(0, ops::batch_to_space_nd(call.dy(), call.integers(0), call.integers(1)));
}

void depth_to_space(Backprop& call) {
  const std::int64_t block = call.integer(attribute_at("DepthToSpace", "blockSize"));
  const auto x = call.x_shape().dims();
  const std::int64_t square = checked_mul(block, block);
  Tensor dx;
  if (call.boolean(attribute_at("DepthToSpace", "channelsFirst"))) {
    dx = ops::reshape(call.dy(), {x[0], x[1] / square, x[2], block, x[3], block});
    dx = ops::transpose(dx, {0, 3, 5, 1, 2, 4});
  } else {
    dx = ops::reshape(call.dy(), {x[0], x[1], block, x[2], block, x[3] / square});
    dx = ops::transpose(dx, {0, 1, 3, 2, 4, 5});
  }
  call.give(0, reshaped(dx, call.x_shape()));
}

// ---- joined and cut

void concat(Backprop& call) {
  const std::size_t axis = call.axis(attribute_at("Concat", "axis"), call.y_shape().rank());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    const std::int64_t size = call.x_shape(i).dims()[axis];
    if (call.wants(i)) call.give(i, cut(call.dy(), axis, begin, size));
    begin = checked_add(begin, size);
  }
}

void pack(Backprop& call) {
  const std::size_t axis = call.axis(attribute_at("Pack", "axis"), call.y_shape().rank());
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (!call.wants(i)) continue;
    call.give(i, reshaped(cut(call.dy(), axis, static_cast<std::int64_t>(i), 1), call.x_shape(i)));
  }
}

std::vector<Tensor> all_dys(const Backprop& call) {
  std::vector<Tensor> dys;
  for (std::size_t i = 0; i < call.outputs(); ++i) dys.push_back(call.dy_or_zeros(i));
  return dys;
}

void split(Backprop& call) {
  const std::size_t axis = call.axis(attribute_at("SplitV", "axis"), call.x_shape().rank());
  call.give(0, ops::concat(all_dys(call), {.axis = static_cast<std::int64_t>(axis)}));
}

void unpack(Backprop& call) {
  const std::size_t axis = call.axis(attribute_at("Unpack", "axis"), call.x_shape().rank());
  call.give(0, ops::pack(all_dys(call), {.axis = static_cast<std::int64_t>(axis)}));
}

// Zeros between the elements of an axis, so that they are `step` apart.
Tensor spread(const Tensor& x, std::size_t axis, std::int64_t step) {
  const Shape shape = x.shape();
  const std::int64_t count = shape.dims()[axis];
  if (step == 1 || count <= 1) return x;
  Dims wide = dims_of(shape);
  wide[axis] = checked_mul(count, step);
  std::int64_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < axis; ++i) outer = checked_mul(outer, shape.dims()[i]);
  for (std::size_t i = axis + 1; i < shape.rank(); ++i) inner = checked_mul(inner, shape.dims()[i]);
  const Tensor apart = ops::pad_v2(ops::reshape(x, {checked_mul(outer, count), 1, inner}),
                                   {0, 0, 0, step - 1, 0, 0});
  return cut(ops::reshape(apart, wide), axis, 0, checked_add(checked_mul(count - 1, step), 1));
}

void strided_slice(Backprop& call) {
  const Dims begin = call.integers(attribute_at("StridedSlice", "begin"));
  const Dims strides = call.integers(attribute_at("StridedSlice", "strides"));
  Tensor dx = call.dy();
  for (std::size_t i = 0; i < begin.size(); ++i) {
    const std::int64_t count = dx.shape().dims()[i];
    if (count == 0) return call.give(0, zeros(call.x_shape(), call.x_dtype()));
    if (strides[i] < 0) dx = reversed(dx, i);
    dx = spread(dx, i, std::abs(strides[i]));
    const std::int64_t last = checked_add(begin[i], checked_mul(strides[i], count - 1));
    dx = widened(dx, i, std::min(begin[i], last), call.x_shape().dims()[i]);
  }
  call.give(0, dx);
}

// ---- padded and repeated

void pad(Backprop& call) {
  const Dims paddings = call.integers(attribute_at("PadV2", "paddings"));
  Dims begin;
  for (std::size_t i = 0; i < call.x_shape().rank(); ++i) begin.push_back(paddings[2 * i]);
  call.give(0, ops::slice(call.dy(), begin, dims_of(call.x_shape())));
}

// Each border goes back, turned round, to what it mirrors.
void mirror_pad(Backprop& call) {
  const Dims paddings = call.integers(attribute_at("MirrorPad", "paddings"));
  const auto mode = static_cast<ops::MirrorMode>(call.integer(attribute_at("MirrorPad", "mode")));
  const std::int64_t skipped = mode == ops::MirrorMode::kReflect ? 1 : 0;  // the edge itself
  Tensor dx = call.dy();
  for (std::size_t i = 0; i < call.x_shape().rank(); ++i) {
    const std::int64_t before = paddings[2 * i], after = paddings[2 * i + 1];
    const std::int64_t size = call.x_shape().dims()[i];
    Tensor sum = cut(dx, i, before, size);
    if (before > 0) {
      sum = sum + widened(reversed(cut(dx, i, 0, before), i), i, skipped, size);
    }
    if (after > 0) {
      const Tensor border = reversed(cut(dx, i, checked_add(before, size), after), i);
      sum = sum + widened(border, i, checked_sub(checked_sub(size, after), skipped), size);
    }
    dx = sum;
  }
  call.give(0, dx);
}

void reverse(Backprop& call) { call.give(0, ops::reverse(call.dy(), call.integers(0))); }
void broadcast_to(Backprop& call) { call.give_summed(0, call.dy()); }

void tile(Backprop& call) {
  const Dims reps = call.integers(attribute_at("Tile", "reps"));
  if (call.y_shape().empty()) return call.give(0, zeros(call.x_shape(), call.x_dtype()));
  Tensor dx = call.dy();
  for (std::size_t i = 0; i < reps.size(); ++i) {
    if (reps[i] == 1) continue;
    Dims shape = dims_of(dx.shape());
    const std::int64_t size = call.x_shape().dims()[i];
    std::int64_t outer = 1, inner = size;
    for (std::size_t k = 0; k < i; ++k) outer = checked_mul(outer, shape[k]);
    for (std::size_t k = i + 1; k < shape.size(); ++k) inner = checked_mul(inner, shape[k]);
    shape[i] = size;
    dx = ops::reshape(ops::sum(ops::reshape(dx, {outer, reps[i], inner}), {1}), shape);
  }
  call.give(0, dx);
}

// ---- matrices

// Every (n + 1)th element of the flat square.
void diag(Backprop& call) {
  const std::int64_t n = count_of(call.x_shape());
  if (n == 0) return call.give(0, zeros(call.x_shape(), call.x_dtype()));
  const Tensor flat = ops::reshape(call.dy(), {checked_mul(n, n)});
  call.give(0, reshaped(ops::strided_slice(flat, {0}, {checked_add(n, 1)}, {n}), call.x_shape()));
}

void band(Backprop& call) { call.give(0, ops::matrix_band_part(call.dy(), call.x(1), call.x(2))); }

// clang-format off
constexpr auto kRows = std::to_array<GradientRow>({
    complex_too("Identity", identity),
    complex_too("Reshape", reshape),
    complex_too("ExpandDims", reshape),
    complex_too("Slice", slice),
    complex_too("Transpose", transpose),
    complex_too("Real", real),
    complex_too("Imag", imag),

    complex_too("BatchToSpaceND", batch_to_space),
    complex_too("SpaceToBatchND", space_to_batch),
    complex_too("BroadcastTo", broadcast_to),
    constant("BroadcastArgs", "its operands are shapes"),
    complex_too("Concat", concat),
    complex_too("DepthToSpace", depth_to_space),
    complex_too("Diag", diag),
    {"MatrixBandPart", band, {.inputs = 6}},
    complex_too("MirrorPad", mirror_pad),
    complex_too("Pack", pack),
    complex_too("PadV2", pad),
    complex_too("Reverse", reverse),
    complex_too("SplitV", split),
    complex_too("StridedSlice", strided_slice),
    complex_too("Tile", tile),
    complex_too("Unpack", unpack),
});
// clang-format on
static_assert(covers(kRows, OfFamily{"views"}, OfFamily{"movement"}));

}  // namespace

std::span<const GradientRow> of_movement() noexcept { return kRows; }

}  // namespace ebb::gradients
