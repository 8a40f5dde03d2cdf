// Gradients of normalisations.
// arithmetic of this file: of tensors
#include <array>

#include "grad/backprop.hpp"

namespace ebb::gradients {
namespace {

using ops::attribute_at;

// Mean, variance, offset and scale repeat along x, whatever their shapes are: as rows of x.
struct Rows {
  Tensor x, dy;  // [rows, the longest of them]
};

std::int64_t longest(const Backprop& call) {
  std::int64_t most = 1;
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    if (call.has(i)) most = std::max(most, count_of(call.x_shape(i)));
  }
  return most;
}

// Repeated to `width` elements.
Tensor repeated(const Tensor& given, std::int64_t width) {
  const std::int64_t count = count_of(given.shape());
  const Tensor flat = ops::reshape(given, {count});
  return count == width ? flat : ops::tile(flat, {width / count});
}

// Summed over the rows, and over what was repeated in one.
void give_rows(Backprop& call, std::size_t i, const Tensor& rows) {
  const std::int64_t count = count_of(call.x_shape(i));
  call.give(i, reshaped(ops::sum(ops::reshape(rows, {-1, count}), {0}), call.x_shape(i)));
}

// (x - mean) / sqrt(variance + epsilon) * scale + offset
void batch_norm(Backprop& call) {
  if (call.x_shape().empty()) {
    for (std::size_t i = 0; i < call.inputs(); ++i) {
      if (call.wants(i)) call.give(i, zeros(call.x_shape(i), call.x_dtype(i)));
    }
    return;
  }
  const std::int64_t width = longest(call);
  const Tensor dy = ops::reshape(call.dy(), {-1, width});
  if (call.wants(3)) give_rows(call, 3, dy);
  const double epsilon = call.number(attribute_at("FusedBatchNorm", "varianceEpsilon"));
  const Tensor inverse = ops::rsqrt(repeated(call.x(2), width) + epsilon);
  const Tensor centered = ops::reshape(call.x(), {-1, width}) - repeated(call.x(1), width);
  if (call.wants(4)) give_rows(call, 4, dy * (centered * inverse));
  const Tensor scaled = call.has(4) ? dy * repeated(call.x(4), width) : dy;
  const Tensor dx = scaled * inverse;
  if (call.wants(0)) call.give(0, reshaped(dx, call.x_shape()));
  if (call.wants(1)) give_rows(call, 1, -dx);
  if (call.wants(2)) {
    give_rows(call, 2, dx * centered * (ops::square(inverse) * -0.5));
  }
}

void local_response(Backprop& call) {
  call.give(0, ops::lrn_grad(call.x(), call.y(), call.dy(),
                             {.depth_radius = call.integer(attribute_at("LRN", "depthRadius")),
                              .bias = call.number(attribute_at("LRN", "bias")),
                              .alpha = call.number(attribute_at("LRN", "alpha")),
                              .beta = call.number(attribute_at("LRN", "beta"))}));
}

void softmax(Backprop& call) {
  const Tensor weighted = call.dy() * call.y();
  const Tensor sum =
      ops::sum(weighted, {call.integer(attribute_at("Softmax", "dim"))}, {.keep_dims = true});
  call.give(0, weighted - sum * call.y());
}

void log_softmax(Backprop& call) {
  const Tensor sum =
      ops::sum(call.dy(), {call.integer(attribute_at("LogSoftmax", "axis"))}, {.keep_dims = true});
  call.give(0, call.dy() - sum * ops::exp(call.y()));
}

// clang-format off
constexpr auto kRows = std::to_array<GradientRow>({
    {"FusedBatchNorm", batch_norm, kInputs},
    {"LRN", local_response, {.inputs = 1, .outputs = 1}},
    missing("LRNGrad", "second derivatives of LRN are not built"),
    {"Softmax", softmax, kOutput},
    {"LogSoftmax", log_softmax, kOutput},
});
// clang-format on
static_assert(covers(kRows, OfFamily{"normalisation"}));

}  // namespace

std::span<const GradientRow> of_normalisation() noexcept { return kRows; }

}  // namespace ebb::gradients
