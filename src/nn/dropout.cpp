// arithmetic of this file: of tensors
#include "ebb/nn/dropout.hpp"

#include "ebb/ops/operators.hpp"
#include "nn/draws.hpp"
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
  const Tensor kept = draw_kept(dims_of(x), rate_);
  return x * (ops::cast(kept, x.dtype()) * (1 / (1 - rate_)));
}

}  // namespace ebb::nn
