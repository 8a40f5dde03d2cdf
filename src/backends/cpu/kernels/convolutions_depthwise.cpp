#include "backends/cpu/kernels/convolutions_depthwise.hpp"

#include <algorithm>

#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/convolutions_depthwise.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for each target.
#include <hwy/highway.h>

#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu::HWY_NAMESPACE {
namespace {

using depthwise::Pixels;
using Index = std::int64_t;

// kTaps is how many there are, or 0 where only p.taps knows. kCount of kPixels pixels are made.
template <int kTaps, int kCount, typename Load, typename Store>
HWY_INLINE void sum_taps(const Pixels& p, Index c, Load load, Store store) {
  const Index taps = kTaps == 0 ? p.taps : kTaps;
  const Index step = p.step;
  Vec s0 = p.bias == nullptr ? hn::Zero(Tag()) : load(p.bias + c);
  Vec s1 = s0, s2 = s0, s3 = s0;
  HWY_UNROLL(9)
  for (Index t = 0; t < taps; ++t) {
    const Vec w = load(p.filter[t] + c);
    const float* x = p.data[t] + c;
    s0 = hn::MulAdd(load(x), w, s0);
    if constexpr (kCount > 1) s1 = hn::MulAdd(load(x + step), w, s1);
    if constexpr (kCount > 2) s2 = hn::MulAdd(load(x + 2 * step), w, s2);
    if constexpr (kCount > 3) s3 = hn::MulAdd(load(x + 3 * step), w, s3);
  }
  float* to = p.result + c;
  store(s0, to);
  if constexpr (kCount > 1) store(s1, to + p.channels);
  if constexpr (kCount > 2) store(s2, to + 2 * p.channels);
  if constexpr (kCount > 3) store(s3, to + 3 * p.channels);
}

template <int kTaps, int kCount>
void make_pixels(const Pixels& p) {
  const Tag d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index c = 0;
  for (; c + lanes <= p.channels; c += lanes) {
    sum_taps<kTaps, kCount>(
        p, c, [&](const float* from) HWY_ATTR { return hn::LoadU(d, from); },
        [&](Vec sum, float* to) HWY_ATTR { hn::StoreU(sum, d, to); });
  }
  if (c == p.channels) return;
  const auto rest = static_cast<std::size_t>(p.channels - c);
  sum_taps<kTaps, kCount>(
      p, c, [&](const float* from) HWY_ATTR { return LoadSome(d, from, rest); },
      [&](Vec sum, float* to) HWY_ATTR { StoreSome(sum, d, to, rest); });
}

void make_some(const Pixels& p, bool all) {
  const bool nine = p.taps == 9;
  if (all)
    return nine ? make_pixels<9, depthwise::kPixels>(p) : make_pixels<0, depthwise::kPixels>(p);
  return nine ? make_pixels<9, 1>(p) : make_pixels<0, 1>(p);
}

}  // namespace
}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {
namespace {

using depthwise::kMostTaps;
using depthwise::kPixels;
using depthwise::Pixels;
using Index = std::int64_t;

HWY_EXPORT(make_some);

class Row {
 public:
  Row(const ops::Convolution& c, const DepthwiseOperands& at, Index row)
      : w_(c.windows), at_(at), channels_(c.in_channels) {
    image_ = row / w_.out[0];
    top_ = row % w_.out[0] * w_.stride[0] - w_.before[0];
  }

  void make(float* result) const {
    const auto make = HWY_DYNAMIC_DISPATCH(make_some);
    for (Index x = 0; x < w_.out[1];) {
      const bool all = x + kPixels <= w_.out[1] && is_inside(x) && is_inside(x + kPixels - 1);
      const Pixels pixels = under(x, result + x * channels_);
      make(pixels, all);
      x += all ? kPixels : 1;
    }
  }

 private:
  Index left_of(Index x) const noexcept { return x * w_.stride[1] - w_.before[1]; }
  bool is_inside(Index x) const noexcept {
    return left_of(x) >= 0 && left_of(x) + w_.reach(1) <= w_.in[1];
  }

  // The taps of the window at `x` that lie over data.
  Pixels under(Index x, float* result) const {
    Pixels made;
    made.taps = 0;
    made.step = w_.stride[1] * channels_;
    made.bias = at_.bias;
    made.result = result;
    made.channels = channels_;
    for (Index i = 0; i < w_.size[0]; ++i) {
      const Index y = top_ + i * w_.dilation[0];
      if (y < 0 || y >= w_.in[0]) continue;
      for (Index k = 0; k < w_.size[1]; ++k) {
        const Index column = left_of(x) + k * w_.dilation[1];
        if (column < 0 || column >= w_.in[1]) continue;
        made.data[made.taps] = at_.data + ((image_ * w_.in[0] + y) * w_.in[1] + column) * channels_;
        made.filter[made.taps++] = at_.filter + (i * w_.size[1] + k) * channels_;
      }
    }
    return made;
  }

  const ops::Windows& w_;
  const DepthwiseOperands& at_;
  Index channels_, image_, top_;
};

}  // namespace

bool suits_depthwise(const ops::Convolution& c) noexcept {
  const ops::Windows& w = c.windows;
  return c.depthwise && !c.channels_first && w.axes == 2 && c.out_channels == c.in_channels &&
         w.size[0] <= kMostTaps && w.size[1] <= kMostTaps && w.size[0] * w.size[1] <= kMostTaps;
}

void run_depthwise(const ops::Convolution& c, const DepthwiseOperands& operands,
                   ops::Activation activation) {
  const ops::Windows& w = c.windows;
  const Index row = w.out[1] * c.out_channels;
  // Rows of fewer multiplications than this are not worth the team.
  const Index grain = 500'000 / (row * w.size[0] * w.size[1] + 1) + 1;
  parallel_for(w.batch * w.out[0], grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      float* result = operands.result + i * row;
      Row(c, operands, i).make(result);
      activate(activation, c.epilogue.alpha, result, row);
    }
  });
}

}  // namespace ebb::cpu
#endif
