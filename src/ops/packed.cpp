#include "ops/packed.hpp"

#include <algorithm>

#include "ebb/base/checked.hpp"
#include "ops/axes.hpp"
#include "ops/format.hpp"
#include "ops/fused.hpp"
#include "ops/windows.hpp"

namespace ebb::ops {
namespace {

constexpr OpSpec kMatrixSpec{.id = kPackedMatrix,
                             .name = "PackedMatrix",
                             .least_inputs = 1,
                             .most_inputs = 1,
                             .outputs = 1,
                             .inputs = {"matrix"},
                             .attributes = {detail::boolean("transposed")}};
constexpr OpSpec kProductSpec{
    .id = kPackedProduct,
    .name = "PackedProduct",
    .least_inputs = 2,
    .most_inputs = 3,
    .outputs = 1,
    .inputs = {"x", "panels", "bias?"},
    .attributes = {detail::integer("columns"), detail::integer("activation"),
                   detail::number("leakyreluAlpha")}};

consteval OpSpec separable_spec() {
  OpSpec spec = *find_op("FusedDepthwiseConv2D");
  spec.id = kPackedSeparable;
  spec.name = "PackedSeparable";
  spec.least_inputs = 3;
  spec.most_inputs = 5;
  spec.inputs = {"x", "filter", "panels", "bias?", "productBias?"};
  spec.attributes[attribute_at("FusedDepthwiseConv2D", "leakyreluAlpha")] =
      detail::integer("columns");
  spec.attributes[spec.attribute_count()] = detail::integer("productActivation");
  return spec;
}
constexpr OpSpec kSeparableSpec = separable_spec();

}  // namespace

const OpSpec* find_packed_op(OpId op) noexcept {
  switch (op) {
    case kPackedMatrix:
      return &kMatrixSpec;
    case kPackedProduct:
      return &kProductSpec;
    case kPackedSeparable:
      return &kSeparableSpec;
    default:
      return nullptr;
  }
}

void check_packed_matrix(OpCall& call) {
  check_float32(call, 1);
  const Shape& shape = call.input(0).shape;
  const std::size_t rank = shape.rank();
  call.check(rank >= 2 && extent(shape, 0, rank - 2) == 1,
             "a matrix of shape {} was given, one of two extents is allowed", shape);
  PackedMatrix made{.inner = shape.dims()[rank - 2],
                    .columns = shape.dims()[rank - 1],
                    .transposed = call.boolean(0)};
  if (made.transposed) std::swap(made.inner, made.columns);
  call.params(made);
  call.make(DType::kFloat32, panels_shape(made.inner, made.columns));
}

void check_packed_product(OpCall& call) {
  check_float32(call, 2);
  const Shape& x = call.input(0).shape;
  const std::int64_t columns = call.integer(0);
  call.check(x.rank() >= 1 && columns >= 0 && columns <= kMostStep,
             "x of shape {} and {} columns were given, rank 1 or more is allowed", x, columns);
  PackedProduct& made = call.params(PackedProduct{.rows = extent(x, 0, x.rank() - 1),
                                                  .inner = x.dims()[x.rank() - 1],
                                                  .columns = columns,
                                                  .epilogue = {}});
  const Shape wanted = panels_shape(made.inner, columns);
  call.check(call.input(1).shape == wanted, "panels of shape {} were given, {} is allowed",
             call.input(1).shape, wanted);
  IntList dims(x.dims());
  dims[x.rank() - 1] = columns;
  const Shape result(dims);
  made.epilogue = checked_epilogue(call, result, call.integer(1), call.number(2), false);
  call.make(DType::kFloat32, result);
}

}  // namespace ebb::ops
