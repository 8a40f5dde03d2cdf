// How CUDA's kernels go over a window, compiled for the host, against the CPU's.
#include "backends/cuda/plugin/kernels/windows.cuh"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/kernels/window_taps.hpp"
#include "backends/cuda/plugin/kernels/activation.cuh"

namespace ebb::cuda {
namespace {

struct Visit {
  std::int64_t out;
  std::int64_t in;
  std::int64_t tap;
  friend bool operator==(const Visit&, const Visit&) = default;
};

ops::Windows random_windows(std::mt19937& random) {
  const auto up_to = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  ops::Windows w;
  w.axes = 2 + random() % 2;
  w.batch = 1;
  for (std::size_t i = 0; i < w.axes; ++i) {
    w.in[i] = 1 + up_to(7);
    w.out[i] = 1 + up_to(6);
    w.size[i] = 1 + up_to(4);
    w.stride[i] = 1 + up_to(3);
    w.dilation[i] = 1 + up_to(3);
    w.before[i] = up_to(4);
  }
  return w;
}

std::vector<Visit> visits_of_cpu(const ops::Windows& windows, std::vector<std::int64_t>& counts) {
  const ops::Windows w = cpu::as_volume(windows);
  std::vector<Visit> visits;
  cpu::visit_rows(
      w, 0, w.out[0] * w.out[1], [](std::int64_t) {},
      [&](std::int64_t out, std::int64_t in, std::int64_t tap) {
        visits.push_back({out, in, tap});
      },
      [&](std::int64_t, std::int64_t taps) { counts.push_back(taps); });
  return visits;
}

template <typename Index>
void compare(const ops::Windows& windows) {
  std::vector<std::int64_t> expected_counts;
  const std::vector<Visit> expected = visits_of_cpu(windows, expected_counts);
  const Volume<Index> w = volume_of<Index>(windows);
  std::vector<Visit> taps;
  std::vector<std::int64_t> counts;
  for (Index i = 0; i < positions(w.out); ++i) {
    const Element<Index> at = element_at(w.out, Index{1}, i);
    counts.push_back(for_each_tap(w, at.z, at.y, at.x, [&](Index in, Index tap) {
      taps.push_back({i, in, tap});
    }));
  }
  EXPECT_EQ(taps, expected);
  EXPECT_EQ(counts, expected_counts);

  // The other way: the windows of each pixel, in the same order.
  std::vector<std::vector<std::int64_t>> forward(static_cast<std::size_t>(positions(w.in)));
  for (const Visit& visit : expected)
    forward[static_cast<std::size_t>(visit.in)].push_back(visit.out);
  for (Index i = 0; i < positions(w.in); ++i) {
    const Element<Index> at = element_at(w.in, Index{1}, i);
    std::vector<std::int64_t> windows_of_pixel;
    for_each_window(w, at.z, at.y, at.x, [&](Index out) { windows_of_pixel.push_back(out); });
    EXPECT_EQ(windows_of_pixel, forward[static_cast<std::size_t>(i)]);
  }
}

TEST(CudaWindows, AreVisitedAsOnTheCpu) {
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    const ops::Windows w = random_windows(random);
    compare<std::int32_t>(w);
    compare<std::int64_t>(w);
    if (HasFailure()) FAIL() << "with windows number " << i;
  }
}

TEST(CudaWindows, KnowWhenTheyNeed64Bits) {
  ops::Windows w;
  w.batch = 16;
  w.in = {1024, 1024, 1};
  w.out = {1024, 1024, 1};
  EXPECT_TRUE(fits_32_bits(w, 63));
  EXPECT_FALSE(fits_32_bits(w, 64));
  w.dilation[0] = std::int64_t{1} << 31;
  EXPECT_FALSE(fits_32_bits(w, 1));
}

TEST(CudaActivations, KeepNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int i = 0; i <= 6; ++i) {
    const auto activation = static_cast<ops::Activation>(i);
    EXPECT_TRUE(activated(activation, nan, 0.5F, 0.5F) != activated(activation, nan, 0.5F, 0.5F));
  }
}

TEST(CudaActivations, AreWhatTheirNamesSay) {
  using ops::Activation;
  EXPECT_EQ(activated(Activation::kLinear, -3, 0, 0), -3);
  EXPECT_EQ(activated(Activation::kRelu, -3, 0, 0), 0);
  EXPECT_EQ(activated(Activation::kRelu6, 7, 0, 0), 6);
  EXPECT_EQ(activated(Activation::kRelu6, 5, 0, 0), 5);
  EXPECT_EQ(activated(Activation::kPrelu, -2, 0.1F, 0.25F), -0.5F);
  EXPECT_EQ(activated(Activation::kLeakyrelu, -2, 0.5F, 0.1F), -1);
  EXPECT_FLOAT_EQ(activated(Activation::kElu, -1, 0, 0), -0.63212056F);
  EXPECT_EQ(activated(Activation::kSigmoid, 0, 0, 0), 0.5F);
}

}  // namespace
}  // namespace ebb::cuda
