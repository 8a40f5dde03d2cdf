#include "backends/cpu/kernels/convolutions_depthwise.hpp"

#include <algorithm>

#include "backends/cpu/parallel.hpp"
#include "ops/packed.hpp"

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

// One pixel, whatever its window is like.
template <typename Load, typename Store>
HWY_INLINE void sum_one(const Pixels& p, Index c, Load load, Store store) {
  Vec sum = p.bias == nullptr ? hn::Zero(Tag()) : load(p.bias + c);
  for (Index i = 0; i < p.rows; ++i) {
    const float* x = p.data + i * p.data_row + c;
    const float* w = p.filter + i * p.filter_row + c;
    for (Index k = 0; k < p.columns; ++k, x += p.data_column, w += p.filter_column) {
      sum = hn::MulAdd(load(x), load(w), sum);
    }
  }
  store(sum, p.result + c);
}

// kPixels pixels. Every sum takes its taps in the same order as one pixel alone would.
template <typename Load, typename Store>
HWY_INLINE void sum_some(const Pixels& p, Index c, Load load, Store store) {
  static_assert(depthwise::kPixels == 4);
  const Index step = p.data_pixel;
  Vec s0 = p.bias == nullptr ? hn::Zero(Tag()) : load(p.bias + c);
  Vec s1 = s0, s2 = s0, s3 = s0;
  for (Index i = 0; i < p.rows; ++i) {
    const float* x = p.data + i * p.data_row + c;
    const float* from = p.filter + i * p.filter_row + c;
    for (Index k = 0; k < p.columns; ++k, x += p.data_column, from += p.filter_column) {
      const Vec w = load(from);
      s0 = hn::MulAdd(load(x), w, s0);
      s1 = hn::MulAdd(load(x + step), w, s1);
      s2 = hn::MulAdd(load(x + 2 * step), w, s2);
      s3 = hn::MulAdd(load(x + 3 * step), w, s3);
    }
  }
  float* to = p.result + c;
  store(s0, to);
  store(s1, to + p.channels);
  store(s2, to + 2 * p.channels);
  store(s3, to + 3 * p.channels);
}

// The same where the windows have three columns, each one pixel on from the one before: six columns of
// data are under all four.
template <typename Load, typename Store>
HWY_INLINE void slide_three(const Pixels& p, Index c, Load load, Store store) {
  const Index step = p.data_column;
  Vec s0 = p.bias == nullptr ? hn::Zero(Tag()) : load(p.bias + c);
  Vec s1 = s0, s2 = s0, s3 = s0;
  for (Index i = 0; i < p.rows; ++i) {
    const float* x = p.data + i * p.data_row + c;
    const float* from = p.filter + i * p.filter_row + c;
    const Vec w0 = load(from), w1 = load(from + p.filter_column),
              w2 = load(from + 2 * p.filter_column);
    const Vec x0 = load(x), x1 = load(x + step), x2 = load(x + 2 * step);
    const Vec x3 = load(x + 3 * step), x4 = load(x + 4 * step), x5 = load(x + 5 * step);
    s0 = hn::MulAdd(x2, w2, hn::MulAdd(x1, w1, hn::MulAdd(x0, w0, s0)));
    s1 = hn::MulAdd(x3, w2, hn::MulAdd(x2, w1, hn::MulAdd(x1, w0, s1)));
    s2 = hn::MulAdd(x4, w2, hn::MulAdd(x3, w1, hn::MulAdd(x2, w0, s2)));
    s3 = hn::MulAdd(x5, w2, hn::MulAdd(x4, w1, hn::MulAdd(x3, w0, s3)));
  }
  float* to = p.result + c;
  store(s0, to);
  store(s1, to + p.channels);
  store(s2, to + 2 * p.channels);
  store(s3, to + 3 * p.channels);
}

// Calls sum(c, load, store) for each vector of channels.
template <typename Sum>
HWY_INLINE void for_channels(const Pixels& p, Sum sum) {
  const Tag d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index c = 0;
  for (; c + lanes <= p.channels; c += lanes) {
    sum(
        c, [&](const float* from) HWY_ATTR { return hn::LoadU(d, from); },
        [&](Vec made, float* to) HWY_ATTR { hn::StoreU(Within(d, p.limits, made), d, to); });
  }
  if (c == p.channels) return;
  const auto rest = static_cast<std::size_t>(p.channels - c);
  sum(
      c, [&](const float* from) HWY_ATTR { return LoadSome(d, from, rest); },
      [&](Vec made, float* to) HWY_ATTR { StoreSome(Within(d, p.limits, made), d, to, rest); });
}

void make_one(const Pixels& p) {
  for_channels(p, [&](Index c, auto load, auto store) HWY_ATTR { sum_one(p, c, load, store); });
}

void make_some(const Pixels& p) {
  if (p.columns == 3 && p.data_pixel == p.data_column) {
    for_channels(p,
                 [&](Index c, auto load, auto store) HWY_ATTR { slide_three(p, c, load, store); });
  } else {
    for_channels(p, [&](Index c, auto load, auto store) HWY_ATTR { sum_some(p, c, load, store); });
  }
}

}  // namespace
}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {
namespace {

using depthwise::kPixels;
using depthwise::Pixels;
using Index = std::int64_t;

HWY_EXPORT(make_one);
HWY_EXPORT(make_some);

// Windows of more taps are oneDNN's.
constexpr Index kMostTaps = ops::kMostSeparableTaps;

// The taps of a window that lie over data, along one axis.
struct Taps {
  Index first, end;
  Index at;  // where the first of them is

  Taps(const ops::Windows& w, std::size_t axis, Index out) {
    const Index start = out * w.stride[axis] - w.before[axis], step = w.dilation[axis];
    first = start < 0 ? std::min((-start + step - 1) / step, w.size[axis]) : 0;
    end = std::clamp((w.in[axis] - start + step - 1) / step, first, w.size[axis]);
    at = first == end ? 0 : start + first * step;
  }
  Index count() const noexcept { return end - first; }
};

class Row {
 public:
  Row(const ops::Convolution& c, const DepthwiseOperands& at, Index row, Limits limits)
      : w_(c.windows),
        at_(at),
        channels_(c.in_channels),
        limits_(limits),
        rows_(w_, 0, row % w_.out[0]) {
    data_ = at.data + (row / w_.out[0] * w_.in[0] + rows_.at) * w_.in[1] * channels_;
    filter_ = at.filter + rows_.first * w_.size[1] * channels_;
    const Index stride = w_.stride[1], room = w_.in[1] + w_.before[1] - w_.reach(1);
    inside_ = std::clamp<Index>((w_.before[1] + stride - 1) / stride, 0, w_.out[1]);
    outside_ = room < 0 ? 0 : std::min(room / stride + 1, w_.out[1]);
  }

  // Its pixels [begin, end).
  void make(Index begin, Index end, float* result) const {
    const auto one = HWY_DYNAMIC_DISPATCH(make_one), some = HWY_DYNAMIC_DISPATCH(make_some);
    const Pixels first = under(inside_);
    for (Index x = begin; x < end;) {
      const bool all_inside = x >= inside_ && x + kPixels <= std::min(outside_, end);
      Pixels pixels = all_inside ? first : under(x);
      pixels.result = result + (x - begin) * channels_;
      if (all_inside) {
        pixels.data += (x - inside_) * pixels.data_pixel;
        some(pixels);
        x += kPixels;
      } else {
        one(pixels);
        ++x;
      }
    }
  }

 private:
  // But for where the result goes.
  Pixels under(Index x) const {
    const Taps columns(w_, 1, x);
    return {.data = data_ + columns.at * channels_,
            .filter = filter_ + columns.first * channels_,
            .rows = rows_.count(),
            .columns = columns.count(),
            .data_row = w_.dilation[0] * w_.in[1] * channels_,
            .data_column = w_.dilation[1] * channels_,
            .filter_row = w_.size[1] * channels_,
            .filter_column = channels_,
            .data_pixel = w_.stride[1] * channels_,
            .bias = at_.bias,
            .result = nullptr,
            .channels = channels_,
            .limits = limits_};
  }

  const ops::Windows& w_;
  const DepthwiseOperands& at_;
  Index channels_;
  Limits limits_;
  Taps rows_;
  const float* data_;  // of the first of these rows
  const float* filter_;
  Index inside_, outside_;  // pixels [inside_, outside_) have their whole window over data
};

}  // namespace

bool suits_depthwise(const ops::Convolution& c) noexcept {
  const ops::Windows& w = c.windows;
  return c.depthwise && !c.channels_first && w.axes == 2 && c.out_channels == c.in_channels &&
         w.size[0] <= kMostTaps && w.size[1] <= kMostTaps && w.size[0] * w.size[1] <= kMostTaps;
}

void make_depthwise_pixels(const ops::Convolution& c, const DepthwiseOperands& operands,
                           Index begin, Index end, const Limits& limits) {
  const Index width = c.windows.out[1];
  float* result = operands.result;
  while (begin < end) {
    const Index row = begin / width, x = begin % width;
    const Index last = std::min(width, end - row * width);
    Row(c, operands, row, limits).make(x, last, result);
    result += (last - x) * c.out_channels;
    begin += last - x;
  }
}

void run_depthwise(const ops::Convolution& c, const DepthwiseOperands& operands,
                   ops::Activation activation) {
  const ops::Windows& w = c.windows;
  const Index row = w.out[1] * c.out_channels;
  const std::optional<Limits> limits = limits_of(activation);
  // Rows of fewer multiplications than this are not worth the team.
  const Index grain = 500'000 / (row * w.size[0] * w.size[1] + 1) + 1;
  parallel_for(w.batch * w.out[0], grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      float* result = operands.result + i * row;
      Row(c, operands, i, limits.value_or(Limits{})).make(0, w.out[1], result);
      if (!limits) activate(activation, c.epilogue.alpha, result, row);
    }
  });
}

}  // namespace ebb::cpu
#endif
