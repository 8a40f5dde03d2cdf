// Normalisations and softmax. Their kernels read the attributes themselves.
#include "ops/axes.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"
#include "ops/windows.hpp"

namespace ebb::ops {
namespace {

constexpr std::size_t kDepthRadius = attribute_of_all("depthRadius", "LRN", "LRNGrad");
constexpr std::size_t kSoftmaxAxis = attribute_at("Softmax", "dim");

constexpr std::array<std::string_view, 5> kBatchNormInputs{"x", "mean", "variance", "offset",
                                                           "scale"};

// mean, variance, offset and scale are repeated along x.
void batch_norm(OpCall& call) {
  const Shape& x = call.input(0).shape;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    if (call.input(i).dtype != DType::kFloat32) call.fail_dtype(i, "float32");
    const std::int64_t count = elements(call.input(i).shape);
    call.check(count > 0 ? elements(x) % count == 0 : elements(x) == 0,
               "{} of shape {} was given, one that repeats along x's {} is allowed",
               kBatchNormInputs[i], call.input(i).shape, x);
  }
  call.make(DType::kFloat32, x);
}

void local_response(OpCall& call) {
  check_float32(call, call.inputs());
  const Shape& x = call.input(0).shape;
  call.check(x.rank() == 4, "x of shape {} was given, rank 4 is allowed", x);
  call.check(call.integer(kDepthRadius) >= 0, "depthRadius {} was given, 0 or more is allowed",
             call.integer(kDepthRadius));
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    call.check(call.input(i).shape == x, "input {} of shape {} was given, x's {} is allowed", i,
               call.input(i).shape, x);
  }
  call.make(DType::kFloat32, x);
}

static_assert(kSoftmaxAxis == attribute_at("LogSoftmax", "axis"));

void softmax(OpCall& call) {
  check_float32(call, 1);
  const Shape& logits = call.input(0).shape;
  call.check(logits.rank() > 0, "a scalar was given, rank 1 or more is allowed");
  const std::size_t axis = checked_axis(call, call.integer(kSoftmaxAxis), logits.rank());
  call.check(axis == logits.rank() - 1,
             "axis {} of rank {} was given, the last one is allowed; transpose first", axis,
             logits.rank());
  call.make(DType::kFloat32, logits);
}

}  // namespace

void add_normalisation(MeaningTable& table) {
  table.set(op_id("FusedBatchNorm"), batch_norm);
  table.set(op_id("LRN"), local_response);
  table.set(op_id("LRNGrad"), local_response);
  table.set(op_id("Softmax"), softmax);
  table.set(op_id("LogSoftmax"), softmax);
}

}  // namespace ebb::ops
