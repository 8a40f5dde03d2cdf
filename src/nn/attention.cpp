// arithmetic of this file: of tensors
#include "ebb/nn/attention.hpp"

#include <cmath>

#include "ebb/ops/operators.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {
namespace {

constexpr double kHidden = -1e9;  // a score whose share is 0

std::int64_t size_of_head(std::int64_t width, std::int64_t heads) {
  if (heads < 1 || width % heads != 0) {
    raise(ErrorKind::kInvalidArgument,
          "[nn::Attention] {} heads for a width of {} were given, a divisor is allowed", heads,
          width);
  }
  return width / heads;
}

}  // namespace

Attention::Attention(std::int64_t width, std::int64_t heads, const AttentionOptions& options)
    : query(width, width),
      key(width, width),
      value(width, width),
      output(width, width),
      width_(width),
      heads_(heads),
      size_(size_of_head(width, heads)),
      options_(options) {}

// [batch, time, width] -> [batch, heads, time, size]
Tensor Attention::split(const Tensor& x) const {
  const Dims dims = dims_of(x);
  return ops::transpose(ops::reshape(x, {dims[0], dims[1], heads_, size_}), {0, 2, 1, 3});
}

// Scores are [batch, heads, time, time of the other].
Tensor Attention::hide_later(const Tensor& scores) const {
  const Dims dims = dims_of(scores);
  const Tensor own = ops::reshape(ops::range(0, double(dims[2])), {dims[2], 1});
  const Tensor others = ops::reshape(ops::range(0, double(dims[3])), {1, dims[3]});
  return scores + ops::cast(ops::greater(others, own), scores.dtype()) * kHidden;
}

Tensor Attention::attend(const Tensor& x, const Tensor& other) {
  const Dims dims = sequence_dims(x, "Attention", width_);
  if (sequence_dims(other, "Attention", width_)[0] != dims[0]) {
    refuse_input("Attention", other, fmt::format("[{}, time, {}]", dims[0], width_));
  }
  const Tensor queries = split(query(x)) * (1 / std::sqrt(double(size_)));
  Tensor scores = ops::batch_mat_mul(queries, split(key(other)), {.transpose_b = true});
  if (options_.causal) scores = hide_later(scores);
  const Tensor seen = ops::batch_mat_mul(ops::softmax(scores), split(value(other)));
  return output(ops::reshape(ops::transpose(seen, {0, 2, 1, 3}), dims));
}

void Attention::parts(Parts& parts) {
  parts.layer("query", query);
  parts.layer("key", key);
  parts.layer("value", value);
  parts.layer("output", output);
}

}  // namespace ebb::nn
