#include "ops/fused.hpp"

#include "ebb/base/checked.hpp"
#include "ops/format.hpp"

namespace ebb::ops {
namespace {

constexpr std::int64_t kLastActivation = static_cast<std::int64_t>(Activation::kSigmoid);

// In channels-first data a list of numbers is one for each channel, as if it were [channels, 1, 1].
Shape aligned(const Shape& shape, bool channels_first) {
  if (!channels_first || shape.rank() != 1 || shape.dims()[0] == 1) return shape;
  return Shape{shape.dims()[0], 1, 1};
}

Broadcast broadcast_of(const OpCall& call, std::size_t input, const Shape& result,
                       bool channels_first) {
  const Shape shape = aligned(call.input(input).shape, channels_first);
  if (call.input(input).dtype != DType::kFloat32) call.fail_dtype(input, "float32");
  call.check(shape.rank() <= result.rank(),
             "input {} of shape {} was given, one that broadcasts to {} is allowed", input, shape,
             result);
  Broadcast made{.given = true};
  std::int64_t step = 1;
  for (std::size_t back = 1; back <= shape.rank(); ++back) {
    const std::int64_t own = shape.dims()[shape.rank() - back];
    const std::int64_t wide = result.dims()[result.rank() - back];
    call.check(own == wide || own == 1,
               "input {} of shape {} was given, one that broadcasts to {} is allowed", input, shape,
               result);
    made.strides[result.rank() - back] = own == 1 ? 0 : step;
    step = saturating_mul(step, own);
  }
  return made;
}

}  // namespace

Epilogue checked_epilogue(const OpCall& call, const Shape& result, std::int64_t activation,
                          double alpha, bool channels_first) {
  call.check(activation >= 0 && activation <= kLastActivation,
             "activation {} was given, 0 to {} are allowed", activation, kLastActivation);
  Epilogue made;
  made.activation = static_cast<Activation>(activation);
  made.alpha = static_cast<float>(alpha);
  if (call.has(2)) made.bias = broadcast_of(call, 2, result, channels_first);
  if (made.activation == Activation::kPrelu) {
    call.check(call.has(3), "prelu was asked for without weights, input 3 is to have them");
    made.slope = broadcast_of(call, 3, result, channels_first);
  }
  return made;
}

}  // namespace ebb::ops
