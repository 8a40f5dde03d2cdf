// arithmetic of this file: of tensors
#include "ebb/nn/dropout.hpp"

#include "ebb/ops/operators.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {

Dropout::Dropout(double rate) : rate_(rate) {
  if (!(rate >= 0 && rate < 1)) {
    raise(ErrorKind::kInvalidArgument, "[nn::Dropout] rate {} was given, 0 to below 1 is allowed",
          rate);
  }
}

Tensor Dropout::operator()(const Tensor& x) {
  if (!training() || rate_ == 0) return x;
  const Tensor drawn = ops::random_uniform(dims_of(x));
  const Tensor kept = ops::greater_equal(drawn, ops::fill({}, rate_, DType::kFloat32));
  return x * (ops::cast(kept, x.dtype()) * (1 / (1 - rate_)));
}

}  // namespace ebb::nn
