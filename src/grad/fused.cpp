// arithmetic of this file: of tensors
#include "grad/fused.hpp"

namespace ebb::gradients {
namespace {

using ops::Activation;

Tensor like(const Tensor& tensor, double value) { return ops::fill({}, value, tensor.dtype()); }

// As the operation has lined it up with its result.
Shape aligned(const Shape& shape, bool channels_first) {
  if (!channels_first || shape.rank() != 1 || shape.dims()[0] == 1) return shape;
  return Shape{shape.dims()[0], 1, 1};
}

void give_aligned(Backprop& call, std::size_t i, const Tensor& dx, bool channels_first) {
  const Tensor summed = summed_to(dx, aligned(call.x_shape(i), channels_first));
  call.give(i, reshaped(summed, call.x_shape(i)));
}

Tensor by_result(const Backprop& call, Activation activation) {
  const Tensor& y = call.y();
  switch (activation) {
    case Activation::kRelu:
      return call.dy() * ops::step(y);
    case Activation::kRelu6:
      return call.dy() * (ops::step(y) * mask(ops::less(y, like(y, 6)), y.dtype()));
    case Activation::kElu:
      return ops::elu_grad(call.dy(), y);
    case Activation::kSigmoid:
      return call.dy() * (y * (1 - y));
    default:
      return call.dy();
  }
}

// The slope below 0 may be any number, so the result does not tell on which side it was.
Tensor by_sum(Backprop& call, const Epilogue& epilogue, Tensor sum) {
  const bool first = epilogue.channels_first;
  if (call.has(2)) sum = sum + reshaped(call.x(2), aligned(call.x_shape(2), first));
  const Tensor positive = ops::greater(sum, like(sum, 0));
  if (epilogue.activation == Activation::kLeakyrelu) {
    return ops::select(positive, call.dy(), call.dy() * epilogue.alpha);
  }
  const Tensor slopes = reshaped(call.x(3), aligned(call.x_shape(3), first));
  if (call.wants(3)) {
    give_aligned(call, 3, ops::select(positive, ops::zeros_like(sum), call.dy() * sum), first);
  }
  return ops::select(positive, call.dy(), call.dy() * slopes);
}

}  // namespace

Tensor through_epilogue(Backprop& call, const Epilogue& epilogue,
                        const std::function<Tensor()>& product) {
  const bool anew =
      epilogue.activation == Activation::kPrelu || epilogue.activation == Activation::kLeakyrelu;
  Tensor dz = anew ? by_sum(call, epilogue, product()) : by_result(call, epilogue.activation);
  if (call.wants(2)) give_aligned(call, 2, dz, epilogue.channels_first);
  return dz;
}

}  // namespace ebb::gradients
