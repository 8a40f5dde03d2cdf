// Winograd's convolutions against the definition in double precision.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "backends/cpu/kernels/convolutions_winograd.hpp"
#include "backends/cpu/team.hpp"

namespace ebb::cpu {
namespace {

using Floats = std::vector<float>;
using Index = std::int64_t;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Case {
  Index batch, height, width, channels, filters;
  Index top = 1, left = 1;      // padding
  Index taller = 0, wider = 0;  // than the data, the result
};

class Convolved {
 public:
  explicit Convolved(const Case& size) : case_(size) {
    c_.windows.batch = size.batch;
    c_.windows.in = {size.height, size.width, 1};
    c_.windows.out = {size.height + size.taller, size.width + size.wider, 1};
    c_.windows.size = {3, 3, 1};
    c_.windows.before = {size.top, size.left, 0};
    c_.in_channels = size.channels;
    c_.out_channels = size.filters;
    std::mt19937 random(17);
    std::uniform_real_distribution<float> value(-1, 1);
    for (Floats* each : {&data, &filter, &bias}) {
      each->resize(static_cast<std::size_t>(each == &data ? size.batch * size.height * size.width *
                                                                size.channels
                                            : each == &filter ? 9 * size.channels * size.filters
                                                              : size.filters));
      for (float& v : *each) v = value(random);
    }
  }
  Floats run(ops::Activation activation = ops::Activation::kLinear) const {
    Floats result(static_cast<std::size_t>(size()), 77.0F);
    const std::unique_ptr<float, decltype(&std::free)> room(
        static_cast<float*>(std::aligned_alloc(64, winograd_floats(c_) * sizeof(float))),
        &std::free);
    run_winograd(c_, {data.data(), filter.data(), bias.data(), result.data(), room.get()},
                 activation);
    return result;
  }
  Index size() const { return case_.batch * out(0) * out(1) * case_.filters; }
  Index out(std::size_t axis) const { return c_.windows.out[axis]; }

  // Calls each(index in the data, product) for the products of one result; the sum
  // of them and of the bias is the result.
  template <typename Each>
  void for_each_product(Index i, Each each) const {
    const Index k = i % case_.filters, x = i / case_.filters % out(1);
    const Index y = i / case_.filters / out(1) % out(0), n = i / case_.filters / out(1) / out(0);
    for (Index tap = 0; tap < 9; ++tap) {
      const Index at_y = y - case_.top + tap / 3, at_x = x - case_.left + tap % 3;
      if (at_y < 0 || at_y >= case_.height || at_x < 0 || at_x >= case_.width) continue;
      for (Index c = 0; c < case_.channels; ++c) {
        const Index from = ((n * case_.height + at_y) * case_.width + at_x) * case_.channels + c;
        const Index weight = (tap * case_.channels + c) * case_.filters + k;
        each(from, static_cast<double>(data[static_cast<std::size_t>(from)]) *
                       filter[static_cast<std::size_t>(weight)]);
      }
    }
  }
  // An error is measured by the largest number of the window times the largest weight, which
  // may not have been multiplied with each other.
  void expect_right(const Floats& got) const {
    float weight = 0;
    for (const float v : filter) weight = std::max(weight, std::abs(v));
    for (Index i = 0; i < size(); ++i) {
      double sum = bias[static_cast<std::size_t>(i % case_.filters)];
      double magnitude = std::abs(sum);
      double largest = 0;
      for_each_product(i, [&](Index from, double product) {
        sum += product;
        magnitude += std::abs(product);
        largest = std::max<double>(largest, std::abs(data[static_cast<std::size_t>(from)]));
      });
      const float value = got[static_cast<std::size_t>(i)];
      if (std::isnan(sum)) {
        ASSERT_TRUE(std::isnan(value)) << "result " << i << " is " << value;
      } else if (std::isinf(static_cast<float>(sum))) {
        ASSERT_EQ(value, static_cast<float>(sum)) << "result " << i;
      } else {
        ASSERT_NEAR(value, sum, 1e-6 * (magnitude + largest * weight)) << "result " << i;
      }
    }
  }

  Floats data, filter, bias;

 private:
  Case case_;
  ops::Convolution c_;
};

void expect_right(const Case& size) {
  SCOPED_TRACE(fmt::format("{}x{}x{}x{} -> {}x{}x{}, padding {}, {}", size.batch, size.height,
                           size.width, size.channels, size.height + size.taller,
                           size.width + size.wider, size.filters, size.top, size.left));
  const Convolved convolved(size);
  convolved.expect_right(convolved.run());
}

TEST(Winograd, IsRightForAnySize) {
  constexpr Index kSides[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33};
  constexpr Index kFilters[] = {1, 5, 8, 16, 17, 33};
  constexpr Index kPads[] = {1, 0, 2, 3};
  std::mt19937 random(23);
  const auto of = [&](auto& list) { return list[random() % std::size(list)]; };
  for (int i = 0; i < 300; ++i) {
    Case each{1 + i % 3, of(kSides), of(kSides), 1 + i % 8, of(kFilters), of(kPads), of(kPads)};
    each.taller = std::max<Index>(1 - each.height, static_cast<Index>(random() % 5) - 2);
    each.wider = std::max<Index>(1 - each.width, static_cast<Index>(random() % 5) - 2);
    expect_right(each);
    if (HasFatalFailure()) return;
  }
}

TEST(Winograd, IsRightForManyChannelsAndLongRows) {
  for (const Case& each : {Case{1, 6, 9, 64, 16}, Case{1, 5, 11, 100, 20}, Case{1, 4, 4, 256, 16},
                           Case{1, 3, 700, 3, 16}, Case{2, 4, 131, 7, 18}}) {
    expect_right(each);
  }
}

TEST(Winograd, IsRightOnEveryProcessor) {
  for (const std::int64_t target : {HWY_SSE4, HWY_AVX2, HWY_AVX3}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (const Case& each : {Case{2, 9, 13, 3, 21}, Case{1, 8, 8, 4, 16}, Case{1, 5, 3, 2, 7},
                             Case{1, 7, 6, 66, 35}}) {
      SCOPED_TRACE(hwy::TargetName(target));
      Convolved convolved(each);
      convolved.expect_right(convolved.run());
      convolved.data[5] = kInfinity;
      convolved.expect_right(convolved.run());
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
}

// From 64 channels and 32 filters on it is made of products, tiles of all rows and images together.
TEST(Winograd, IsRightAsProductsForAnySize) {
  constexpr Index kSides[] = {1, 2, 3, 5, 8, 13, 26};
  constexpr Index kChannels[] = {64, 65, 79, 96};
  constexpr Index kFilters[] = {32, 33, 47, 64, 100};
  std::mt19937 random(29);
  const auto of = [&](auto& list) { return list[random() % std::size(list)]; };
  for (int i = 0; i < 40; ++i) {
    Case each{1 + i % 3, of(kSides), of(kSides), of(kChannels), of(kFilters), i % 4, i / 4 % 4};
    each.taller = std::max<Index>(1 - each.height, i % 5 - 2);
    each.wider = std::max<Index>(1 - each.width, i / 5 % 5 - 2);
    expect_right(each);
    if (HasFatalFailure()) return;
  }
  expect_right({1, 4, 5, 512, 40});
}

// Small whole numbers and their halves and quarters are exact all the way.
TEST(Winograd, WholeNumbersAreExact) {
  Convolved convolved({1, 12, 12, 3, 16});
  for (Floats* each : {&convolved.data, &convolved.filter, &convolved.bias}) {
    for (float& v : *each) v = std::round(v * 100);
  }
  const Floats got = convolved.run();
  for (Index i = 0; i < convolved.size(); ++i) {
    double sum = convolved.bias[static_cast<std::size_t>(i % 16)];
    convolved.for_each_product(i, [&](Index, double product) { sum += product; });
    ASSERT_EQ(got[static_cast<std::size_t>(i)], sum) << i;
  }
}

// Whatever stands in one place of the data, results whose window does not have it are what they
// were, and all are right.
void expect_trouble_stays(const Case& size, std::size_t place) {
  const Floats good = Convolved(size).run();
  for (const float bad : {kNaN, kInfinity, -kInfinity, 1e30F, std::numeric_limits<float>::max()}) {
    Convolved convolved(size);
    convolved.data[place] = bad;
    const Floats got = convolved.run();
    for (Index i = 0; i < convolved.size(); ++i) {
      bool has_it = false;
      convolved.for_each_product(
          i, [&](Index from, double) { has_it |= from == static_cast<Index>(place); });
      const auto at = static_cast<std::size_t>(i);
      if (!has_it) {
        ASSERT_NEAR(got[at], good[at], 2e-6 * static_cast<double>(size.channels))
            << bad << " at " << place << ", result " << i;
      }
    }
    convolved.expect_right(got);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Winograd, OneBadNumberTroublesItsWindowsOnly) {
  // Every place of the data in turn: corners, borders, each place of a tile.
  for (std::size_t place = 0; place < 9 * 12 * 2; ++place) {
    expect_trouble_stays({1, 9, 12, 2, 17}, place);
    if (HasFatalFailure()) return;
  }
}

TEST(Winograd, OneBadNumberTroublesItsWindowsOnlyAsProducts) {
  // Each pixel in turn, another channel each time.
  for (std::size_t pixel = 0; pixel < 6 * 7; ++pixel) {
    expect_trouble_stays({1, 6, 7, 64, 32}, pixel * 64 + pixel);
    if (HasFatalFailure()) return;
  }
}

// Sums on the way are up to nine times as large as the results.
TEST(Winograd, LargeResultsDoNotOverflowOnTheWay) {
  Convolved convolved({1, 8, 8, 1, 16});
  std::fill(convolved.data.begin(), convolved.data.end(), 3e38F);
  std::fill(convolved.filter.begin(), convolved.filter.end(), 0.0F);
  for (std::size_t k = 0; k < 16; ++k) {
    convolved.filter[4 * 16 + k] = 1.0F;
    convolved.filter[5 * 16 + k] = k % 2 == 0 ? 0.125F : -0.5F;
  }
  const Floats got = convolved.run();
  for (const float v : got) ASSERT_TRUE(std::isfinite(v));
  convolved.expect_right(got);
}

TEST(Winograd, BadFiltersSpoilTheirResultsOnly) {
  for (const Case& size : {Case{2, 6, 7, 3, 18}, Case{1, 6, 7, 64, 34}}) {
    const auto filters = static_cast<std::size_t>(size.filters);
    for (const float bad : {kNaN, kInfinity, 3e38F}) {
      Convolved convolved(size);
      convolved.filter[5 * filters + 4] = bad;
      convolved.filter[20 * filters + 17] = bad;
      convolved.expect_right(convolved.run());
    }
  }
}

TEST(Winograd, ActivatesAndGivesTheSameForAnyTeam) {
  for (const Case& size : {Case{4, 33, 35, 8, 32}, Case{3, 17, 20, 64, 40}}) {
    const Convolved convolved(size);
    const Floats linear = convolved.run();
    const Floats relu = convolved.run(ops::Activation::kRelu);
    const Floats sigmoid = convolved.run(ops::Activation::kSigmoid);
    const Alone alone(true);
    const Floats again = convolved.run();
    for (std::size_t i = 0; i < linear.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(linear[i]), std::bit_cast<std::uint32_t>(again[i]))
          << i;
      ASSERT_EQ(relu[i], std::max(linear[i], 0.0F)) << i;
      ASSERT_NEAR(sigmoid[i], 1 / (1 + std::exp(-linear[i])), 1e-6) << i;
    }
  }
}

ops::Convolution usual() {
  ops::Convolution c;
  c.windows.batch = 8;
  c.windows.in = c.windows.out = {32, 32, 1};
  c.windows.size = {3, 3, 1};
  c.windows.before = {1, 1, 0};
  c.in_channels = 3;
  c.out_channels = 16;
  return c;
}

TEST(Winograd, SuitsPlainConvolutionsThatAreLargeEnough) {
  EXPECT_TRUE(suits_winograd(usual()));
  const auto refuses = [](auto change) {
    ops::Convolution c = usual();
    change(c);
    return !suits_winograd(c);
  };
  EXPECT_TRUE(refuses([](auto& c) { c.windows.size[0] = 5; }));
  EXPECT_TRUE(refuses([](auto& c) { c.windows.stride[1] = 2; }));
  EXPECT_TRUE(refuses([](auto& c) { c.windows.dilation[1] = 2; }));
  EXPECT_TRUE(refuses([](auto& c) { c.windows.axes = 3; }));
  EXPECT_TRUE(refuses([](auto& c) { c.channels_first = true; }));
  EXPECT_TRUE(refuses([](auto& c) { c.depthwise = true; }));
  EXPECT_TRUE(refuses([](auto& c) { c.in_channels = 1; }));
  EXPECT_TRUE(refuses([](auto& c) { c.in_channels = 257; }));
  EXPECT_FALSE(refuses([](auto& c) { c.in_channels = 512, c.out_channels = 32; }));
  EXPECT_TRUE(refuses([](auto& c) { c.in_channels = 513, c.out_channels = 32; }));
  EXPECT_TRUE(refuses([](auto& c) { c.out_channels = 9; }));
  EXPECT_TRUE(refuses([](auto& c) { c.windows.batch = 0; }));
  EXPECT_TRUE(refuses([](auto& c) { c.windows.out = {3, 3, 1}; }));
}

}  // namespace
}  // namespace ebb::cpu
