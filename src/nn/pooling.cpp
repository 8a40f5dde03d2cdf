#include "ebb/nn/pooling.hpp"

#include "ebb/base/checked.hpp"
#include "ebb/ops/functions.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {

Tensor MaxPool2D::operator()(const Tensor& x) {
  return ops::max_pool(x, options_.size,
                       {.strides = options_.strides,
                        .pads = pads_of(options_.padding, dims_of(x, 4, "MaxPool2D"), options_.size,
                                        options_.strides)});
}

Tensor AveragePool2D::operator()(const Tensor& x) {
  return ops::avg_pool(x, options_.size,
                       {.strides = options_.strides,
                        .pads = pads_of(options_.padding, dims_of(x, 4, "AveragePool2D"),
                                        options_.size, options_.strides)});
}

Tensor GlobalAveragePool2D::operator()(const Tensor& x) { return ops::mean(x, {1, 2}); }

Tensor Flatten::operator()(const Tensor& x) {
  const Dims dims = dims_of(x);
  if (dims.empty()) raise(ErrorKind::kInvalidArgument, "[nn::Flatten] a scalar was given");
  std::int64_t rest = 1;
  for (std::size_t i = 1; i < dims.size(); ++i) rest = checked_mul(rest, dims[i]);
  return ops::reshape(x, {dims[0], rest});
}

}  // namespace ebb::nn
