// The small parts: numbers, the check sum, which births are taken, lows and growth.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <span>
#include <string>

#include "ebb/base/error.hpp"
#include "observe/crc32c.hpp"
#include "observe/lows.hpp"
#include "observe/sampler.hpp"
#include "observe/wire.hpp"

namespace ebb::observe {
namespace {

TEST(Wire, NumbersAndTextComeBack) {
  const std::vector<std::uint64_t> numbers{0, 1, 127, 128, 300, 1u << 31, ~std::uint64_t{0}};
  WireWriter out;
  for (const auto a : numbers) {
    out.number(a);
    for (const auto b : numbers) out.difference(a, b);
  }
  out.text("ebb\0rec");
  out.text("");
  WireReader in(out.bytes());
  for (const auto a : numbers) {
    EXPECT_EQ(in.number(), a);
    for (const auto b : numbers) EXPECT_EQ(in.difference(b), a);
  }
  EXPECT_EQ(in.text(), "ebb\0rec");
  EXPECT_EQ(in.text(), "");
  EXPECT_TRUE(in.at_end());
  EXPECT_THROW(in.byte(), Error);
}

TEST(Wire, RefusesTextBeyondTheEndAndNumbersBeyondTheirMost) {
  const std::vector<std::uint8_t> bytes{5, 'a', 'b'};
  EXPECT_THROW(WireReader(bytes).text(), Error);
  EXPECT_THROW(WireReader(bytes).number(4), Error);
  EXPECT_EQ(WireReader(bytes).number(5), 5u);
}

TEST(Crc32c, IsTheCastagnoliSum) {
  const std::string text = "123456789";
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  EXPECT_EQ(crc32c(bytes), 0xE3069283u);
  EXPECT_EQ(crc32c(bytes.subspan(4), crc32c(bytes.first(4))), 0xE3069283u);
}

// What is taken stands for what there was, in number and in bytes.
TEST(Sampler, WeightsMakeUpForWhatIsLeftOut) {
  set_sampling(Mode::kSampled, kUsualSampleBytes);
  for (const std::uint64_t bytes : {64u, 4096u, 100'000u}) {
    constexpr int kBirths = 400'000;
    double weight = 0;
    int taken = 0;
    for (int i = 0; i < kBirths; ++i) {
      if (!wants_site(bytes)) continue;
      ++taken;
      weight += weight_of(bytes, kUsualSampleBytes);
    }
    EXPECT_LT(taken, kBirths / 4) << bytes;
    EXPECT_NEAR(weight / kBirths, 1, 6 / std::sqrt(taken)) << bytes;
  }
  EXPECT_TRUE(wants_site(kUsualSampleBytes));
  EXPECT_EQ(weight_of(kUsualSampleBytes, kUsualSampleBytes), 1);
  set_sampling(Mode::kFull, kUsualSampleBytes);
  EXPECT_TRUE(wants_site(1));
  set_sampling(Mode::kCounters, kUsualSampleBytes);
  EXPECT_FALSE(wants_site(1 << 30));
  set_sampling(Mode::kOff, kUsualSampleBytes);
  EXPECT_FALSE(wants_site(1 << 30));
}

// A figure over time, as its lows are seen at the end.
Growth played(int seconds, const std::function<double(double)>& value, double least = 1000) {
  Windows windows;
  Lows lows;
  std::uint32_t window = 0;
  for (int ms = 0; ms < seconds * 1000; ++ms) {
    for (bool halved = true; halved;) {
      window = windows.at(std::uint64_t(ms) * 1'000'000 + 5, halved);
      if (halved) lows.halve();
    }
    lows.set(window, value(ms / 1000.0));
  }
  return growth_of(lows.all(window), windows.width(), least);
}

TEST(Growth, TellsALeakFromASawtoothAStepAndAPlateau) {
  const auto sawtooth = [](double t) { return 1e6 * (t * 3 - std::floor(t * 3)); };
  EXPECT_FALSE(played(20, [&](double t) { return 5e6 + sawtooth(t); }).growing);
  EXPECT_FALSE(played(20, [](double t) { return t < 9 ? 1e6 : 9e6; }).growing);
  EXPECT_FALSE(played(20, [](double t) { return t < 4 ? 1e6 * t : 4e6; }).growing);
  EXPECT_FALSE(played(20, [](double) { return 0.0; }).growing);
  const Growth leak = played(20, [&](double t) { return 5e6 + 4e6 * t + sawtooth(t); });
  EXPECT_TRUE(leak.growing);
  EXPECT_NEAR(leak.per_second, 4e6, 4e5);
  EXPECT_NEAR(leak.level, 85e6, 3e6);
  EXPECT_FALSE(played(20, [](double t) { return 10 * t; }).growing) << "too little to mention";
}

// A place that makes much and keeps little: what is dead hides the leak between collections, and
// without one looks like a leak.
TEST(Growth, LooksAtWindowsWithACollectionWhereThereAreEnough) {
  std::vector<double> leak, clean;
  std::vector<bool> collected;
  for (int i = 0; i < 64; ++i) {
    const double dead = 1e6 * (i % 7);
    leak.push_back(dead + 2e4 * i);
    clean.push_back(dead);
    collected.push_back(i % 7 == 0);
  }
  EXPECT_FALSE(growth_of(leak, 1'000'000'000, 1000).growing);
  const Growth seen = growth_of(leak, 1'000'000'000, 1000, collected);
  EXPECT_TRUE(seen.growing);
  EXPECT_NEAR(seen.per_second, 2e4, 1);
  EXPECT_FALSE(growth_of(clean, 1'000'000'000, 1000, collected).growing);
  const std::vector<bool> few(3, true);
  EXPECT_EQ(growth_of(leak, 1'000'000'000, 1000, few).growing, false);
}

TEST(Growth, SeesALeakThatIsSlowerThanItsWindows) {
  std::vector<double> slow, steps;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(1e6 * (i / 6));    // one more in every sixth window
    steps.push_back(1e7 * (i / 30));  // three models, one after the other
  }
  EXPECT_TRUE(growth_of(slow, 100'000'000, 1000).growing);
  EXPECT_FALSE(growth_of(steps, 100'000'000, 1000).growing);
}

TEST(Growth, SaysNothingOfTooFewWindows) {
  EXPECT_FALSE(growth_of({}, 1, 0).growing);
  EXPECT_FALSE(growth_of({1, 2, 3}, 1, 0).growing);
}

}  // namespace
}  // namespace ebb::observe
