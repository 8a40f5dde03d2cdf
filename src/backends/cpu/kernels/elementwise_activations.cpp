// The activations of fused operations, in place. NaN stays NaN.
#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise_activations.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for each target.
#include <hwy/highway.h>

#include "backends/cpu/kernels/elementwise_exponentials-inl.hpp"
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu::HWY_NAMESPACE {
namespace {

struct Relu {
  HWY_INLINE Vec operator()(Tag d, Vec x) const {
    return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
  }
};

struct Relu6 {
  HWY_INLINE Vec operator()(Tag d, Vec x) const {
    const Vec six = hn::Set(d, 6.0F);
    return hn::IfThenElse(hn::Gt(x, six), six, Relu()(d, x));
  }
};

struct LeakyRelu {
  float alpha;
  HWY_INLINE Vec operator()(Tag d, Vec x) const {
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, hn::Set(d, alpha)), x);
  }
};

// In place, which vectors-inl.hpp's loops are not for.
template <typename Function>
void map(Function function, float* data, std::int64_t count) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(function(d, hn::LoadU(d, data + i)), d, data + i);
  }
  if (i < count) {
    const auto rest = static_cast<std::size_t>(count - i);
    StoreSome(function(d, LoadSome(d, data + i, rest)), d, data + i, rest);
  }
}

void map_relu(float* data, std::int64_t count, float) { map(Relu(), data, count); }
void map_relu6(float* data, std::int64_t count, float) { map(Relu6(), data, count); }
void map_elu(float* data, std::int64_t count, float) {
  map([](Tag d, Vec x) HWY_ATTR { return Elu(d, x, 1.0F, 1.0F); }, data, count);
}
void map_sigmoid(float* data, std::int64_t count, float) {
  map([](Tag d, Vec x) HWY_ATTR { return Sigmoid(d, x); }, data, count);
}
void map_leaky_relu(float* data, std::int64_t count, float alpha) {
  map(LeakyRelu{alpha}, data, count);
}

}  // namespace
}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {
namespace {

HWY_EXPORT(map_relu);
HWY_EXPORT(map_relu6);
HWY_EXPORT(map_elu);
HWY_EXPORT(map_sigmoid);
HWY_EXPORT(map_leaky_relu);

using Map = void (*)(float*, std::int64_t, float);

Map map_of(ops::Activation activation) {
  switch (activation) {
    case ops::Activation::kRelu:
      return HWY_DYNAMIC_DISPATCH(map_relu);
    case ops::Activation::kRelu6:
      return HWY_DYNAMIC_DISPATCH(map_relu6);
    case ops::Activation::kElu:
      return HWY_DYNAMIC_DISPATCH(map_elu);
    case ops::Activation::kLeakyrelu:
      return HWY_DYNAMIC_DISPATCH(map_leaky_relu);
    case ops::Activation::kSigmoid:
      return HWY_DYNAMIC_DISPATCH(map_sigmoid);
    case ops::Activation::kLinear:
    case ops::Activation::kPrelu:
      break;
  }
  return nullptr;
}

}  // namespace

void activate(ops::Activation activation, float alpha, float* data, std::int64_t count) {
  const Map map = map_of(activation);
  if (map == nullptr) return;
  parallel_for(count, 64 * 1024, [&](std::int64_t begin, std::int64_t end) {
    map(data + begin, end - begin, alpha);
  });
}

}  // namespace ebb::cpu
#endif
