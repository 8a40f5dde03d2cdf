#include "ops/normed.hpp"

#include "ops/format.hpp"

namespace ebb::ops {
namespace {

consteval OpSpec convolution_spec(OpId id, std::string_view name) {
  OpSpec spec = *find_op("FusedConv2D");
  spec.id = id;
  spec.name = name;
  spec.least_inputs = spec.most_inputs = 6;
  spec.inputs = {"x", "filter", "mean", "variance", "offset"};
  spec.attributes[spec.attribute_count()] = detail::number("varianceEpsilon");
  return spec;
}

constexpr OpSpec kConvolutionSpec = convolution_spec(kNormedConvolution, "NormedConvolution");
constexpr OpSpec kDepthwiseSpec = convolution_spec(kNormedDepthwise, "NormedDepthwise");
constexpr OpSpec kRowNormSpec{.id = kRowNorm,
                              .name = "RowNorm",
                              .least_inputs = 2,
                              .most_inputs = 2,
                              .outputs = 1,
                              .inputs = {"x", "epsilon"},
                              .attributes = {}};

void check_row_norm(OpCall& call) {
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (call.input(i).dtype != DType::kFloat32) call.fail_dtype(i, "float32");
  }
  const Shape& x = call.input(0).shape;
  const Shape& epsilon = call.input(1).shape;
  call.check(x.rank() > 0 && epsilon.elements() == 1,
             "x of shape {} and epsilon of shape {} were given, rows and one number are allowed", x,
             epsilon);
  call.make(DType::kFloat32, x);
}

}  // namespace

const OpSpec* find_normed_op(OpId op) noexcept {
  if (op == kRowNorm) return &kRowNormSpec;
  return op == kNormedConvolution ? &kConvolutionSpec
         : op == kNormedDepthwise ? &kDepthwiseSpec
                                  : nullptr;
}

void add_normed(MeaningTable& table) { table.set(kRowNorm, check_row_norm); }

}  // namespace ebb::ops
