#include "ebb/nn/pooling.hpp"

#include "ebb/base/checked.hpp"
#include "ebb/ops/functions.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {

namespace {

const PoolOptions& checked(const PoolOptions& options, std::string_view layer) {
  check_window(options.size, "sizes", layer);
  check_window(options.strides, "strides", layer);
  return options;
}

}  // namespace

MaxPool2D::MaxPool2D(const PoolOptions& options) : options_(checked(options, "MaxPool2D")) {}
AveragePool2D::AveragePool2D(const PoolOptions& options)
    : options_(checked(options, "AveragePool2D")) {}

Tensor MaxPool2D::operator()(const Tensor& x) {
  return ops::max_pool(x, options_.size,
                       {.strides = options_.strides,
                        .pads = pads_of(options_.padding, image_dims(x, "MaxPool2D"), options_.size,
                                        options_.strides)});
}

Tensor AveragePool2D::operator()(const Tensor& x) {
  return ops::avg_pool(x, options_.size,
                       {.strides = options_.strides,
                        .pads = pads_of(options_.padding, image_dims(x, "AveragePool2D"),
                                        options_.size, options_.strides)});
}

Tensor GlobalAveragePool2D::operator()(const Tensor& x) {
  static_cast<void>(image_dims(x, "GlobalAveragePool2D"));
  return ops::mean(x, {1, 2});
}

Tensor Flatten::operator()(const Tensor& x) {
  const Dims dims = dims_of(x);
  if (dims.empty()) refuse_input("Flatten", x, "[batch, ...]");
  std::int64_t rest = 1;
  for (std::size_t i = 1; i < dims.size(); ++i) rest = checked_mul(rest, dims[i]);
  return ops::reshape(x, {dims[0], rest});
}

}  // namespace ebb::nn
