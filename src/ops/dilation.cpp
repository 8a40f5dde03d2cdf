// Grayscale dilation: the largest sum of data and filter under a window.
#include "ops/axes.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"
#include "ops/params/pooling.hpp"
#include "ops/windows.hpp"

namespace ebb::ops {
namespace {

constexpr std::size_t kAxes = 2;
consteval std::size_t in_all(std::string_view name) {
  return attribute_of_all(name, "Dilation2D", "Dilation2DBackpropInput",
                          "Dilation2DBackpropFilter");
}
constexpr WindowAttributes kAttributes{
    .strides = in_all("strides"), .pads = in_all("pads"), .dilations = in_all("dilations")};

// x: [batch, height, width, channels], filter: [height, width, channels], of one dtype.
Pooling& begin(OpCall& call) {
  const DType dtype = call.input(0).dtype;
  if (dtype != DType::kFloat32 && dtype != DType::kInt32) call.fail_dtype(0, "float32 or int32");
  if (call.input(1).dtype != dtype) call.fail_dtype(1, name_of(dtype));
  Pooling& made = call.params(Pooling());
  take_attributes(call, kAttributes, made.windows);
  made.channels =
      take_data(call, 0, call.input(0).shape, false, kAxes, made.windows.batch, made.windows.in);
  const Shape& filter = call.input(1).shape;
  call.check(filter.rank() == 3 && filter.dims()[2] == made.channels,
             "a filter of shape {} was given, [height, width, {}] is allowed", filter,
             made.channels);
  for (std::size_t i = 0; i < kAxes; ++i) {
    call.check(filter.dims()[i] > 0 && filter.dims()[i] <= kMostStep,
               "a filter of shape {} was given, extents of 1 to {} are allowed", filter, kMostStep);
    made.windows.size[i] = filter.dims()[i];
  }
  return made;
}

void dilate(OpCall& call) {
  Pooling& made = begin(call);
  take_output(call, attribute_at("Dilation2D", "outputSize"), kAttributes.pads, made.windows);
  call.make(call.input(0).dtype,
            data_shape(made.windows.batch, made.windows.out, kAxes, made.channels, false));
}

// x, filter, dy -> the gradient of input `kOf`.
template <std::size_t kOf>
void gradient(OpCall& call) {
  check_float32(call, 3);
  Pooling& made = begin(call);
  std::int64_t batch = 0;
  const Shape& dy = call.input(2).shape;
  const std::int64_t channels = take_data(call, 2, dy, false, kAxes, batch, made.windows.out);
  call.check(batch == made.windows.batch && channels == made.channels,
             "a gradient of shape {} was given, batch {} and {} channels are allowed", dy,
             made.windows.batch, made.channels);
  call.make(DType::kFloat32, call.input(kOf).shape);
}

}  // namespace

void add_dilation(MeaningTable& table) {
  table.set(op_id("Dilation2D"), dilate);
  table.set(op_id("Dilation2DBackpropInput"), gradient<0>);
  table.set(op_id("Dilation2DBackpropFilter"), gradient<1>);
}

}  // namespace ebb::ops
