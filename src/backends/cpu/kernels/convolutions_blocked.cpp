// Convolutions as products by blocks (blocks.hpp), for builds without oneDNN: what lies under the
// windows is gathered into rows, a tile at a time. Filters, or what they are made of, that are not
// finite go the way of the definition: 0 * Infinity is NaN, but there is no product in the padding.
#include <algorithm>
#include <bit>
#include <span>

#include "backends/cpu/kernels/blocks.hpp"
#include "backends/cpu/kernels/convolutions.hpp"
#include "backends/cpu/kernels/convolutions_direct.hpp"
#include "backends/cpu/kernels/convolutions_gather.hpp"
#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/kernels/window_taps.hpp"
#include "backends/cpu/parallel.hpp"
#include "ebb/base/checked.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using blocks::Index;
using ops::Convolution;
using ops::OpCall;

// Less than this many floating-point operations are one thread's.
constexpr double kAloneFlops = 8e6;
// About so many floats of gathered rows are multiplied at once.
constexpr Index kTileFloats = 64 * 1024;

bool are_finite(const float* numbers, std::int64_t count) {
  constexpr std::uint32_t kExponent = 0x7F800000;
  std::uint32_t found = 0;
  for (const float number : std::span(numbers, static_cast<std::size_t>(count))) {
    found |= (std::bit_cast<std::uint32_t>(number) & kExponent) == kExponent ? 1U : 0U;
  }
  return found == 0;
}

float* room(OpCall& call, Index rows, Index columns) {
  return call.workspace<float>(static_cast<std::uint64_t>(checked_mul(rows, columns)));
}

// Each image's matrix turned: [batch, rows, columns] as [batch, columns, rows].
void turn(const float* from, float* to, Index batch, Index rows, Index columns) {
  parallel_for(batch * columns, grain_of(rows), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const float* image = from + i / columns * rows * columns + i % columns;
      for (Index j = 0; j < rows; ++j) to[i * rows + j] = image[j * columns];
    }
  });
}

// A tensor of images with the channels last, whichever way it was given or is wanted.
class Images {
 public:
  Images(OpCall& call, const Convolution& c, Index pixels, Index channels)
      : batch_(c.windows.batch), pixels_(pixels), channels_(channels) {
    if (c.channels_first) turned_ = room(call, checked_mul(batch_, pixels), channels);
  }
  const float* read(const float* given) {
    if (turned_ == nullptr) return given;
    turn(given, turned_, batch_, channels_, pixels_);
    return turned_;
  }
  float* to_write(float* given) const { return turned_ == nullptr ? given : turned_; }
  void finish(float* given) const {
    if (turned_ != nullptr) turn(turned_, given, batch_, pixels_, channels_);
  }

 private:
  float* turned_ = nullptr;
  Index batch_, pixels_, channels_;
};

// Work in `units`, shared by as many threads as it is worth, each with a place of its own for
// `floats` floats: work(unit, place).
template <typename Work>
void share(OpCall& call, Index units, double flops, Index floats, Work work) {
  const Index threads = flops < kAloneFlops ? 1 : std::min<Index>(units, team_size());
  float* places = room(call, threads, std::max<Index>(floats, 1));
  parallel_for(threads, 1, [&](Index begin, Index end) {
    for (Index thread = begin; thread < end; ++thread) {
      const Index last = units * (thread + 1) / threads;
      for (Index unit = units * thread / threads; unit < last; ++unit) {
        work(unit, places + thread * floats);
      }
    }
  });
}

double flops_of(Index rows, Index inner, Index columns) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(inner) *
         static_cast<double>(columns);
}

// result = gathered rows * filters, which are packed.
void multiply_gathered(OpCall& call, const Gather& gather, const float* filters, Index columns,
                       float* result) {
  const Index inner = gather.columns();
  const Index tile = std::clamp<Index>(kTileFloats / inner / 6 * 6, 6, blocks::kRows);
  const Index tiles = (gather.rows() - 1) / tile + 1;
  const bool dense = gather.is_identity();
  const Index place = dense ? 0 : checked_mul(tile, inner);
  share(call, tiles, flops_of(gather.rows(), inner, columns), place, [&](Index unit, float* rows) {
    const Index begin = unit * tile;
    const Index end = std::min(begin + tile, gather.rows());
    if (!dense) gather.rows_to(begin, end, 0, inner, rows);
    blocks::multiply({.left = {dense ? gather.data() + begin * inner : rows, inner, 1},
                      .right = filters,
                      .out = result + begin * columns,
                      .out_row = columns,
                      .rows = end - begin,
                      .inner = inner,
                      .columns = columns});
  });
}

// Filters [tap][in][out] as the right-hand matrix [tap][in] x [out].
const float* packed_filters(OpCall& call, const float* filter, Index inner, Index columns) {
  float* to = room(call, inner, blocks::rounded(columns));
  blocks::pack_together({.part = {filter, columns, 1},
                         .first = 0,
                         .rows = inner,
                         .inner = inner,
                         .columns = columns,
                         .to = to});
  return to;
}

// The same as [tap][out] x [in].
const float* packed_filters_back(OpCall& call, const float* filter, Index taps, Index in,
                                 Index out) {
  const Index inner = checked_mul(taps, out);
  float* to = room(call, inner, blocks::rounded(in));
  for (Index tap = 0; tap < taps; ++tap) {
    blocks::pack_together({.part = {filter + tap * in * out, 1, out},
                           .first = tap * out,
                           .rows = out,
                           .inner = inner,
                           .columns = in,
                           .to = to});
  }
  return to;
}

// The filters' gradient: gathered rows, turned, times the result's gradient.
void multiply_back_filter(OpCall& call, const Gather& gather, const float* gradient, Index columns,
                          float* filter) {
  const Index rows = gather.columns();
  const Index units = (rows - 1) / blocks::kRows + 1;
  const Index block = std::min(blocks::kBlock, gather.rows());
  const Index left = checked_mul(block, blocks::kRows);
  const Index place = checked_add(left, checked_mul(block, blocks::rounded(columns)));
  const double flops = flops_of(rows, gather.rows(), columns);
  share(call, units, flops, place, [&](Index unit, float* numbers) {
    const Index first = unit * blocks::kRows;
    const Index count = std::min(blocks::kRows, rows - first);
    for (Index begin = 0; begin < gather.rows(); begin += block) {
      const Index inner = std::min(block, gather.rows() - begin);
      gather.rows_to(begin, begin + inner, first, first + count, numbers);
      blocks::pack({.part = {gradient + begin * columns, columns, 1},
                    .first = 0,
                    .rows = inner,
                    .inner = inner,
                    .columns = columns,
                    .to = numbers + left});
      blocks::multiply({.left = {numbers, 1, count},
                        .right = numbers + left,
                        .out = filter + first * columns,
                        .out_row = columns,
                        .rows = count,
                        .inner = inner,
                        .columns = columns,
                        .add = begin > 0});
    }
  });
}

Convolution of_a_volume(Convolution c) {
  c.windows = as_volume(c.windows);
  return c;
}

}  // namespace

void convolve_windows(OpCall& call, const Convolution& given, bool /*bias*/) {
  const Convolution c = of_a_volume(given);
  Images data(call, c, volume(c.windows.in), c.in_channels);
  Images result(call, c, volume(c.windows.out), c.out_channels);
  const float* from = data.read(call.in<float>(0));
  const auto* filter = call.in<float>(1);
  float* to = result.to_write(call.out<float>(0));
  if (c.depthwise || !are_finite(filter, ops::elements(call.input(1).shape))) {
    convolve_direct(c, from, filter, to);
  } else {
    const Gather gather(c.windows, from, c.in_channels, false);
    const float* filters = packed_filters(call, filter, gather.columns(), c.out_channels);
    multiply_gathered(call, gather, filters, c.out_channels, to);
  }
  result.finish(call.out<float>(0));
  if (!c.epilogue.empty()) apply_epilogue(call, c.epilogue, false);
}

void convolve_windows_back_filter(OpCall& call, const Convolution& given) {
  const Convolution c = of_a_volume(given);
  Images data(call, c, volume(c.windows.in), c.in_channels);
  Images gradient(call, c, volume(c.windows.out), c.out_channels);
  const float* from = data.read(call.in<float>(0));
  const float* change = gradient.read(call.in<float>(1));
  auto* filter = call.out<float>(0);
  if (c.depthwise || !are_finite(change, ops::elements(call.input(1).shape))) {
    back_filter_direct(c, from, change, filter);
    return;
  }
  multiply_back_filter(call, Gather(c.windows, from, c.in_channels, false), change, c.out_channels,
                       filter);
}

void convolve_windows_back_input(OpCall& call, const Convolution& given) {
  const Convolution c = of_a_volume(given);
  Images gradient(call, c, volume(c.windows.out), c.out_channels);
  Images data(call, c, volume(c.windows.in), c.in_channels);
  const float* change = gradient.read(call.in<float>(0));
  const auto* filter = call.in<float>(1);
  float* to = data.to_write(call.out<float>(0));
  if (c.depthwise || !are_finite(filter, ops::elements(call.input(1).shape))) {
    back_input_direct(c, change, filter, to);
  } else {
    const Gather gather(c.windows, change, c.out_channels, true);
    const float* filters =
        packed_filters_back(call, filter, gather.taps(), c.in_channels, c.out_channels);
    multiply_gathered(call, gather, filters, c.in_channels, to);
  }
  data.finish(call.out<float>(0));
}

}  // namespace ebb::cpu
