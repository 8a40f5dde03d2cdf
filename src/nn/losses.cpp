// arithmetic of this file: of tensors
#include "ebb/nn/losses.hpp"

#include "ebb/ops/operators.hpp"

namespace ebb::nn {
namespace {

Tensor mean_of_all(const Tensor& x) { return ops::mean(ops::reshape(x, {-1}), {0}); }

bool are_numbers(const Tensor& labels) {
  const DType dtype = labels.dtype();
  return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kUint8 ||
         dtype == DType::kInt8;
}

std::int64_t classes_of(const Tensor& logits) {
  const Shape shape = logits.shape();
  if (shape.rank() == 0) {
    raise(ErrorKind::kInvalidArgument, "[nn::losses] scalar logits were given, classes are needed");
  }
  return shape.dims().back();
}

// Else broadcasting would compare each with every other.
void check_alike(const Tensor& a, const Tensor& b, std::string_view loss) {
  if (a.shape() == b.shape()) return;
  raise(ErrorKind::kInvalidArgument, "[nn::{}] shapes {} and {} were given, they must be the same",
        loss, a.shape().to_string(), b.shape().to_string());
}

// As many as there are rows of logits.
Tensor shares(const Tensor& logits, const Tensor& labels, std::string_view loss) {
  if (!are_numbers(labels)) {
    check_alike(logits, labels, loss);
    return labels;
  }
  const Tensor numbers =
      labels.dtype() == DType::kInt32 ? labels : ops::cast(labels, DType::kInt32);
  const Tensor made = ops::one_hot(numbers, classes_of(logits), {.dtype = logits.dtype()});
  check_alike(logits, made, loss);
  return made;
}

}  // namespace

Tensor mean_squared_error(const Tensor& predicted, const Tensor& y) {
  check_alike(predicted, y, "mean_squared_error");
  return mean_of_all(ops::squared_difference(predicted, y));
}

Tensor mean_absolute_error(const Tensor& predicted, const Tensor& y) {
  check_alike(predicted, y, "mean_absolute_error");
  return mean_of_all(ops::abs(predicted - y));
}

// With q the part of the error up to delta: q (error - q / 2), which bends nowhere but there.
Tensor huber_loss(const Tensor& predicted, const Tensor& y, double delta) {
  check_alike(predicted, y, "huber_loss");
  if (!(delta > 0)) {
    raise(ErrorKind::kInvalidArgument,
          "[nn::huber_loss] a delta of {} was given, more than 0 is allowed", delta);
  }
  const Tensor error = predicted - y;
  const Tensor near = ops::clip_by_value(error, -delta, delta);
  return mean_of_all(near * (error - near * 0.5));
}

Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& labels) {
  const Tensor each = ops::log_softmax(logits) * shares(logits, labels, "softmax_cross_entropy");
  return -mean_of_all(ops::sum(each, {-1}));
}

// -z log(sigmoid(x)) - (1 - z) log(1 - sigmoid(x)): smooth, and neither term takes digits from the other.
Tensor sigmoid_cross_entropy(const Tensor& logits, const Tensor& targets) {
  check_alike(logits, targets, "sigmoid_cross_entropy");
  return mean_of_all(targets * ops::softplus(-logits) + (1 - targets) * ops::softplus(logits));
}

Tensor accuracy(const Tensor& logits, const Tensor& labels) {
  const Tensor wanted = ops::arg_max(shares(logits, labels, "accuracy"), {.axis = -1});
  const Tensor found = ops::arg_max(logits, {.axis = -1});
  return mean_of_all(ops::cast(ops::equal(found, wanted), DType::kFloat32));
}

}  // namespace ebb::nn
