// arithmetic of this file: of tensors
#include "ebb/nn/losses.hpp"

#include <limits>

#include "ebb/ops/operators.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {
namespace {

Tensor mean_of_all(const Tensor& x) { return ops::mean(ops::reshape(x, {-1}), {0}); }

bool are_numbers(const Tensor& labels) {
  const DType dtype = labels.dtype();
  return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kUint8 ||
         dtype == DType::kInt8;
}

void check_classes(const Tensor& logits, std::string_view loss) {
  if (logits.shape().rank() != 0) return;
  raise(ErrorKind::kInvalidArgument, "[nn::{}] scalar logits were given, classes are needed", loss);
}

// Else broadcasting would compare each with every other.
void check_alike(const Tensor& a, const Tensor& b, std::string_view loss) {
  if (a.shape() == b.shape()) return;
  raise(ErrorKind::kInvalidArgument, "[nn::{}] shapes {} and {} were given, they must be the same",
        loss, a.shape().to_string(), b.shape().to_string());
}

// One for each row of the logits.
Tensor numbers_of(const Tensor& logits, const Tensor& labels, std::string_view loss) {
  const Shape shape = logits.shape();
  if (labels.shape() != Shape(shape.dims().first(shape.rank() - 1))) {
    raise(ErrorKind::kInvalidArgument,
          "[nn::{}] logits of shape {} and labels of shape {} were given, a label for each row is "
          "allowed",
          loss, shape.to_string(), labels.shape().to_string());
  }
  return as_int32(labels);
}

// A gather refuses numbers that are none of the classes, and takes no other logit into account. On a GPU
// it would wait for that, and no graph could have it; its gradient counts elements in int32.
bool may_gather(const Tensor& logits) {
  return logits.device().link() == nullptr &&
         logits.shape().elements() <= std::uint64_t{std::numeric_limits<std::int32_t>::max()};
}

// Of each row the logarithm of its label's share.
Tensor picked(const Tensor& logs, const Tensor& numbers) {
  const std::int64_t classes = logs.shape().dims().back();
  if (!may_gather(logs)) {
    return ops::sum(logs * ops::one_hot(numbers, classes, {.dtype = logs.dtype()}), {-1});
  }
  const auto rows = static_cast<std::int64_t>(numbers.shape().elements());
  return ops::gather_v2(ops::reshape(logs, {rows, classes}), ops::reshape(numbers, {rows, 1}),
                        {.axis = 1, .batch_dims = 1});
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
  constexpr std::string_view kLoss = "softmax_cross_entropy";
  check_classes(logits, kLoss);
  const Tensor logs = ops::log_softmax(logits);
  if (are_numbers(labels)) return -mean_of_all(picked(logs, numbers_of(logits, labels, kLoss)));
  check_alike(logits, labels, kLoss);
  return -mean_of_all(ops::sum(logs * labels, {-1}));
}

// -z log(sigmoid(x)) - (1 - z) log(1 - sigmoid(x)): smooth, and neither term takes digits from the other.
Tensor sigmoid_cross_entropy(const Tensor& logits, const Tensor& targets) {
  check_alike(logits, targets, "sigmoid_cross_entropy");
  return mean_of_all(targets * ops::softplus(-logits) + (1 - targets) * ops::softplus(logits));
}

Tensor accuracy(const Tensor& logits, const Tensor& labels) {
  check_classes(logits, "accuracy");
  const bool numbers = are_numbers(labels);
  if (!numbers) check_alike(logits, labels, "accuracy");
  const Tensor wanted =
      numbers ? numbers_of(logits, labels, "accuracy") : ops::arg_max(labels, {.axis = -1});
  const Tensor found = ops::arg_max(logits, {.axis = -1});
  return mean_of_all(ops::cast(ops::equal(found, wanted), DType::kFloat32));
}

}  // namespace ebb::nn
