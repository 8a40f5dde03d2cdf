// What CUDA's convolutions by tiles look up, compiled for the host, against convolutions as they
// are defined.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "backends/cpu/kernels/window_taps.hpp"
#include "backends/cuda/plugin/kernels/convolutions_lookup.cuh"

namespace ebb::cuda {
namespace {

using Floats = std::vector<float>;

// Small whole numbers: sums are exact in any order.
Floats random_numbers(std::mt19937& random, std::int64_t count) {
  Floats made(static_cast<std::size_t>(count));
  for (float& value : made) value = static_cast<float>(static_cast<int>(random() % 9) - 4);
  return made;
}

struct Case {
  ops::Convolution c;
  Floats x, filter, y;

  explicit Case(std::mt19937& random) {
    const auto up_to = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
    };
    ops::Windows& w = c.windows;
    w.axes = 2 + random() % 2;
    w.batch = 1 + up_to(3);
    for (std::size_t i = 0; i < w.axes; ++i) {
      w.in[i] = 1 + up_to(5);
      w.out[i] = 1 + up_to(4);
      w.size[i] = 1 + up_to(3);
      w.stride[i] = 1 + up_to(3);
      w.dilation[i] = 1 + up_to(2);
      w.before[i] = up_to(3);
    }
    c.in_channels = 1 + up_to(3);
    c.out_channels = 1 + up_to(3);
    c.channels_first = random() % 2 == 0;
    const ops::Windows v = cpu::as_volume(w);
    x = random_numbers(random, w.batch * cpu::volume(v.in) * c.in_channels);
    filter = random_numbers(random, cpu::volume(v.size) * c.in_channels * c.out_channels);
    y = random_numbers(random, w.batch * cpu::volume(v.out) * c.out_channels);
  }

  std::size_t at(std::int64_t image, std::int64_t pixels, std::int64_t pixel, std::int64_t channels,
                 std::int64_t channel) const {
    return static_cast<std::size_t>(c.channels_first
                                        ? (image * channels + channel) * pixels + pixel
                                        : (image * pixels + pixel) * channels + channel);
  }

  // visit(index in x, in the filter, in y) for every product of the convolution.
  template <typename Visit>
  void for_each_product(Visit visit) const {
    const ops::Windows w = cpu::as_volume(c.windows);
    for (std::int64_t image = 0; image < w.batch; ++image) {
      cpu::visit_rows(
          w, 0, w.out[0] * w.out[1], [](std::int64_t) {},
          [&](std::int64_t out, std::int64_t in, std::int64_t tap) {
            for (std::int64_t i = 0; i < c.in_channels; ++i) {
              for (std::int64_t o = 0; o < c.out_channels; ++o) {
                visit(at(image, cpu::volume(w.in), in, c.in_channels, i),
                      static_cast<std::size_t>((tap * c.in_channels + i) * c.out_channels + o),
                      at(image, cpu::volume(w.out), out, c.out_channels, o));
              }
            }
          },
          [](std::int64_t, std::int64_t) {});
    }
  }

  Floats expected(Direction direction) const {
    Floats made(direction == Direction::kForward    ? y.size()
                : direction == Direction::kBackData ? x.size()
                                                    : filter.size());
    for_each_product([&](std::size_t i, std::size_t f, std::size_t o) {
      switch (direction) {
        case Direction::kForward:
          made[o] += x[i] * filter[f];
          break;
        case Direction::kBackData:
          made[i] += y[o] * filter[f];
          break;
        case Direction::kBackFilter:
          made[f] += x[i] * y[o];
          break;
      }
    });
    return made;
  }
};

// The kernel's sum, one element after the other.
template <Direction kDirection, typename Index>
Floats looked_up(const Case& one) {
  const TileShape<Index> s = tile_shape_of<Index>(one.c, kDirection);
  constexpr bool kToFilter = kDirection == Direction::kBackFilter;
  constexpr bool kBack = kDirection == Direction::kBackData;
  const float* a = kBack ? one.y.data() : one.x.data();
  const float* b = kToFilter ? one.y.data() : one.filter.data();
  Floats made(static_cast<std::size_t>(s.rows * s.columns), -1e9F);
  for (Index row = 0; row < s.rows; ++row) {
    for (Index column = 0; column < s.columns; ++column) {
      float sum = 0;
      for (Index k = 0; k < s.inner; ++k) {
        const auto place =
            place_of<kDirection>(s, kToFilter ? k : row, kToFilter ? s.inner : s.rows);
        const auto reach =
            reach_of<kDirection>(s, kToFilter ? row : k, kToFilter ? s.rows : s.inner);
        sum += look_up<kDirection>(s, a, place, reach) * right_at<kDirection>(s, b, k, column);
      }
      Index to = row * s.columns + column;
      if (!kToFilter) {
        to = kBack ? result_at(s.w.in, s.x, row, column) : result_at(s.w.out, s.y, row, column);
      }
      made[static_cast<std::size_t>(to)] = sum;
    }
  }
  return made;
}

template <typename Index>
void compare(const Case& one) {
  EXPECT_EQ((looked_up<Direction::kForward, Index>(one)), one.expected(Direction::kForward));
  EXPECT_EQ((looked_up<Direction::kBackData, Index>(one)), one.expected(Direction::kBackData));
  EXPECT_EQ((looked_up<Direction::kBackFilter, Index>(one)), one.expected(Direction::kBackFilter));
}

TEST(CudaConvolutions, LookUpWhatTheyMultiply) {
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    const Case one(random);
    compare<std::int32_t>(one);
    compare<std::int64_t>(one);
    if (HasFailure()) FAIL() << "with convolution number " << i;
  }
}

}  // namespace
}  // namespace ebb::cuda
