#include "ops/params/pooling.hpp"

#include "ops/axes.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"
#include "ops/windows.hpp"

namespace ebb::ops {
namespace {

consteval std::size_t in_all(std::string_view name) {
  return attribute_of_all(name, "AvgPool", "AvgPool3D", "AvgPoolGrad", "AvgPool3DGrad", "MaxPool",
                          "MaxPool3D", "MaxPoolGrad", "MaxPool3DGrad", "MaxPoolWithArgmax");
}
constexpr std::size_t kFilterSize = in_all("filterSize");
constexpr WindowAttributes kAttributes{
    .strides = in_all("strides"), .pads = in_all("pads"), .dilations = in_all("dilations")};
constexpr std::size_t kOutputSize = attribute_of_all("outputSize", "AvgPool", "AvgPool3D",
                                                     "MaxPool", "MaxPool3D", "MaxPoolWithArgmax");

Pooling begin(const OpCall& call, std::size_t axes, std::size_t data) {
  Pooling made;
  made.windows.axes = axes;
  made.windows.size = checked_spatial(call, kFilterSize, axes, 1);
  take_attributes(call, kAttributes, made.windows);
  made.channels = take_data(call, data, call.input(data).shape, false, axes, made.windows.batch,
                            made.windows.in);
  return made;
}

Pooling& forward(OpCall& call, std::size_t axes) {
  Pooling& made = call.params(begin(call, axes, 0));
  take_output(call, kOutputSize, kAttributes.pads, made.windows);
  call.make(call.input(0).dtype,
            data_shape(made.windows.batch, made.windows.out, axes, made.channels, false));
  return made;
}

void check_comparable(const OpCall& call, std::size_t input) {
  const DType dtype = call.input(input).dtype;
  if (dtype != DType::kFloat32 && dtype != DType::kInt32)
    call.fail_dtype(input, "float32 or int32");
}

template <std::size_t kAxes>
void average(OpCall& call) {
  check_float32(call, 1);
  forward(call, kAxes);
}

template <std::size_t kAxes>
void maximum(OpCall& call) {
  check_comparable(call, 0);
  forward(call, kAxes);
}

void maximum_with_argmax(OpCall& call) {
  check_comparable(call, 0);
  Pooling& made = forward(call, 2);
  made.batch_in_index = call.boolean(attribute_at("MaxPoolWithArgmax", "includeBatchInIndex"));
  // An index counts the elements of an image, or of all of them.
  const Shape& x = call.input(0).shape;
  check_positions(call, x.empty() ? 0 : extent(x, made.batch_in_index ? 0 : 1, x.rank()));
  call.make(DType::kInt32, call.output(0).shape);
}

// dy, input (and the result, which the kernels do without) -> the input's gradient.
template <std::size_t kAxes>
void gradient(OpCall& call) {
  check_float32(call, 2);
  Pooling& made = call.params(begin(call, kAxes, 1));
  std::int64_t batch = 0;
  const Shape& dy = call.input(0).shape;
  const std::int64_t channels = take_data(call, 0, dy, false, kAxes, batch, made.windows.out);
  call.check(batch == made.windows.batch && channels == made.channels,
             "a gradient of shape {} was given, batch {} and {} channels are allowed", dy,
             made.windows.batch, made.channels);
  call.make(DType::kFloat32, call.input(1).shape);
}

}  // namespace

void add_pooling(MeaningTable& table) {
  table.set(op_id("AvgPool"), average<2>);
  table.set(op_id("AvgPool3D"), average<3>);
  table.set(op_id("AvgPoolGrad"), gradient<2>);
  table.set(op_id("AvgPool3DGrad"), gradient<3>);
  table.set(op_id("MaxPool"), maximum<2>);
  table.set(op_id("MaxPool3D"), maximum<3>);
  table.set(op_id("MaxPoolGrad"), gradient<2>);
  table.set(op_id("MaxPool3DGrad"), gradient<3>);
  table.set(op_id("MaxPoolWithArgmax"), maximum_with_argmax);
}

}  // namespace ebb::ops
