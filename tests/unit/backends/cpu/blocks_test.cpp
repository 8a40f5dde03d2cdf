// Products by blocks against their definition.
#include "backends/cpu/kernels/blocks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/shift.hpp"

namespace ebb::cpu::blocks {
namespace {

using Floats = std::vector<float>;

struct Case {
  Index rows, inner, columns;
  bool turned_left = false, turned_right = false;
};

std::string name_of(const Case& c) {
  return fmt::format("{}x{}x{}{}{}", c.rows, c.inner, c.columns, c.turned_left ? " left" : "",
                     c.turned_right ? " right" : "");
}

// Whole numbers, so that every sum is exact in float32 and in any order.
Floats small_numbers(Index count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> value(-4, 4);
  Floats made(static_cast<std::size_t>(count));
  for (float& number : made) number = static_cast<float>(value(random));
  return made;
}

Matrix matrix_of(const Floats& numbers, Index rows, Index columns, bool turned) {
  return {numbers.data(), turned ? 1 : columns, turned ? rows : 1};
}

Floats packed(const Case& c, const Floats& right, bool together) {
  Floats room(static_cast<std::size_t>(c.inner * rounded(c.columns)), 77.0F);
  const Packing packing{.part = matrix_of(right, c.inner, c.columns, c.turned_right),
                        .first = 0,
                        .rows = c.inner,
                        .inner = c.inner,
                        .columns = c.columns,
                        .to = room.data()};
  together ? pack_together(packing) : pack(packing);
  return room;
}

// With a margin after each row, which must stay as it is.
constexpr Index kMargin = 3;
constexpr float kUntouched = 1234.0F;

Floats product(const Case& c, const Floats& left, const Floats& right, bool add = false,
               const Finish* finish = nullptr, const Floats* next = nullptr) {
  const Index step = c.columns + kMargin;
  Floats out(static_cast<std::size_t>(c.rows * step), add ? 1.0F : kUntouched);
  const Floats panels = packed(c, right, c.columns > 100);
  multiply({.left = matrix_of(left, c.rows, c.inner, c.turned_left),
            .right = panels.data(),
            .out = out.data(),
            .out_row = step,
            .rows = c.rows,
            .inner = c.inner,
            .columns = c.columns,
            .add = add,
            .finish = finish,
            .next = next == nullptr ? nullptr : next->data(),
            .next_floats = next == nullptr ? 0 : static_cast<Index>(next->size())});
  return out;
}

void expect_product(const Case& c) {
  SCOPED_TRACE(name_of(c));
  const Floats left = small_numbers(c.rows * c.inner, 1);
  const Floats right = small_numbers(c.inner * c.columns, 2);
  const Floats made = product(c, left, right);
  const Floats added = product(c, left, right, true);
  const Matrix a = matrix_of(left, c.rows, c.inner, c.turned_left);
  const Matrix b = matrix_of(right, c.inner, c.columns, c.turned_right);
  for (Index i = 0; i < c.rows; ++i) {
    for (Index j = 0; j < c.columns + kMargin; ++j) {
      float sum = 0;
      for (Index k = 0; k < c.inner && j < c.columns; ++k) {
        sum += a.at[i * a.row + k * a.column] * b.at[k * b.row + j * b.column];
      }
      const auto at = static_cast<std::size_t>(i * (c.columns + kMargin) + j);
      ASSERT_EQ(made[at], j < c.columns ? sum : kUntouched) << i << ' ' << j;
      ASSERT_EQ(added[at], sum + 1.0F) << i << ' ' << j;
    }
  }
}

#if defined(__aarch64__)
constexpr std::int64_t kTargets[] = {HWY_NEON, HWY_SVE};
#else
constexpr std::int64_t kTargets[] = {HWY_SSE4, HWY_AVX2, HWY_AVX3};
#endif

// Calls each() with every kind of vectors that Ebb has code for and this processor has.
template <typename Each>
void for_each_target(Each each) {
  for (const std::int64_t target : kTargets) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    each(target);
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
}

TEST(Blocks, GiveTheProductOfAnyExtents) {
  for_each_target([](std::int64_t) {
    for (const Index rows : {1, 5, 6, 7, 97}) {
      for (const Index inner : {1, 3, 511, 512, 513}) {
        for (const Index columns : {1, 8, 31, 32, 33, 130}) expect_product({rows, inner, columns});
      }
    }
  });
}

TEST(Blocks, TakeOperandsThatLieTurned) {
  for_each_target([](std::int64_t) {
    expect_product({13, 600, 37, true, false});
    expect_product({13, 600, 37, false, true});
    expect_product({13, 600, 37, true, true});
  });
}

// By rows or by columns, each thread a part, with a bias and limits.
TEST(Blocks, AreSharedByTheTeam) {
  for (const Case& c : {Case{700, 90, 70}, {49, 530, 300}, {196, 300, 130}, {5, 2000, 500}}) {
    SCOPED_TRACE(name_of(c));
    const Floats left = small_numbers(c.rows * c.inner, 1);
    const Floats right = small_numbers(c.inner * c.columns, 2), bias = small_numbers(c.columns, 3);
    const Floats panels = packed(c, right, true), plain = product(c, left, right);
    Floats out(static_cast<std::size_t>(c.rows * c.columns), kUntouched);
    const Finish finish{.bias = bias.data(), .limits = {.least = -20, .most = 30}};
    multiply_together({.left = matrix_of(left, c.rows, c.inner, false),
                       .right = panels.data(),
                       .out = out.data(),
                       .out_row = c.columns,
                       .rows = c.rows,
                       .inner = c.inner,
                       .columns = c.columns,
                       .finish = &finish});
    for (Index i = 0; i < c.rows; ++i) {
      for (Index j = 0; j < c.columns; ++j) {
        const float sum = plain[static_cast<std::size_t>(i * (c.columns + kMargin) + j)] +
                          bias[static_cast<std::size_t>(j)];
        ASSERT_EQ(out[static_cast<std::size_t>(i * c.columns + j)], std::clamp(sum, -20.0F, 30.0F))
            << i << ' ' << j;
      }
    }
  }
}

TEST(Blocks, OfNothingWriteNothing) {
  for (const Case& c : {Case{3, 0, 4}, {0, 7, 4}, {3, 7, 0}}) {
    SCOPED_TRACE(name_of(c));
    const Floats left = small_numbers(c.rows * c.inner, 1);
    const Floats right = small_numbers(c.inner * c.columns, 2);
    const auto floats = static_cast<std::size_t>(c.rows * (c.columns + kMargin));
    EXPECT_EQ(product(c, left, right), Floats(floats, kUntouched));
  }
}

// Few and many floats for the turns of a product.
TEST(Blocks, AreTheSameWhateverIsFetchedMeanwhile) {
  const Case c{25, 600, 70};
  const Floats left = small_numbers(c.rows * c.inner, 1);
  const Floats right = small_numbers(c.inner * c.columns, 2);
  for (const Index count : {1, 64, 200'000}) {
    const Floats next = small_numbers(count, 3);
    EXPECT_EQ(product(c, left, right, false, nullptr, &next), product(c, left, right));
  }
}

// NaN is no number beyond a limit.
TEST(Blocks, LimitNumbersAlone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const Floats left{-0.0F, nan, -3.0F, 3.0F, 9.0F, -infinity, infinity}, right{1.0F};
  const Finish finish{.bias = nullptr, .limits = {.least = 0, .most = 6}};
  const Floats expected{0.0F, nan, 0.0F, 3.0F, 6.0F, 0.0F, 6.0F};
  for_each_target([&](std::int64_t) {
    const Floats made = product({7, 1, 1}, left, right, false, &finish);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const float number = made[i * (1 + kMargin)];
      EXPECT_TRUE(number == expected[i] || (i == 1 && std::isnan(number))) << i << ": " << number;
    }
  });
}

TEST(Blocks, GiveTheSameBitsForVectorsOfAnyLength) {
  const Case c{25, 1100, 75};
  std::mt19937 random(3);
  std::uniform_real_distribution<float> value(-1, 1);
  Floats left(static_cast<std::size_t>(c.rows * c.inner));
  Floats right(static_cast<std::size_t>(c.inner * c.columns));
  for (Floats* each : {&left, &right}) {
    for (float& number : *each) number = value(random);
  }
  Floats first;
  for_each_target([&](std::int64_t target) {
#if defined(__x86_64__)
    if (target > HWY_AVX2) return;  // SSE4 has no fused product and sum
#endif
    const Floats made = product(c, left, right);
    if (first.empty()) first = made;
    EXPECT_EQ(made, first) << target;
  });
}

TEST(Blocks, KeepInfinityInItsRowAndColumn) {
  const Case c{7, 4, 9};
  Floats left(28, 1.0F);
  Floats right(36, 1.0F);
  left[5] = std::numeric_limits<float>::infinity();  // row 1
  right[8] =
      -std::numeric_limits<float>::infinity();  // the last column, of a panel that is not whole
  const Floats made = product(c, left, right);
  for (Index i = 0; i < c.rows; ++i) {
    for (Index j = 0; j < c.columns; ++j) {
      const float number = made[static_cast<std::size_t>(i * (c.columns + kMargin) + j)];
      EXPECT_EQ(number == 4.0F, i != 1 && j != 8) << i << ' ' << j;
    }
  }
}

// ---- sharing

// The crew works for this thread.
class CrewIsAwake {
 public:
  CrewIsAwake() {
    pace_.runs = Shift::kRunsAlone;  // those with it are next
    pace_.alone_ns = 10 * Shift::kLeastNs;
    pace_.own_loops = 1;
    shift_hooks().begin(pace_);
  }
  ~CrewIsAwake() { shift_hooks().end(pace_, true); }

 private:
  ops::ProgramPace pace_;
};

// How many parts of `count` products of so many operations there are; each product is in one.
int parts_of(Index count, double flops) {
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
  std::atomic<int> parts = 0;
  share(count, flops, [&](Index begin, Index end) {
    ++parts;
    for (Index i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  for (const auto& times : seen) EXPECT_EQ(times.load(), 1);
  return parts;
}

TEST(SharedProducts, AreWholeWhereTheyAreSmall) {
  EXPECT_EQ(parts_of(64, 128), 1);
  const CrewIsAwake crew;
  EXPECT_EQ(Shift::has_crew(), team_size() > 1);
  for (const Index count : {1, 7, 64, 1000}) {
    EXPECT_EQ(parts_of(count, 128), 1) << count;
    EXPECT_EQ(parts_of(count, 1.9 * kLeastPartFlops / static_cast<double>(count)), 1) << count;
  }
}

TEST(SharedProducts, AreInPartsWhereTheyAreMany) {
  if (team_size() < 2) GTEST_SKIP() << "one core";
  EXPECT_GT(parts_of(64, 1e6), 1);
  EXPECT_GT(parts_of(2, 1e8), 1);
  const CrewIsAwake crew;
  EXPECT_GT(parts_of(64, 1e6), 1);
  EXPECT_GT(parts_of(2, 1e8), 1);
}

}  // namespace
}  // namespace ebb::cpu::blocks
