// The index arithmetic of the CUDA kernels, and their random numbers, on the host.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "backends/cuda/plugin/kernels/images.cuh"
#include "backends/cuda/plugin/kernels/loops.cuh"
#include "backends/cuda/plugin/kernels/mersenne.cuh"
#include "backends/cuda/plugin/kernels/overlap.cuh"

namespace ebb::cuda {
namespace {

TEST(CudaIndex, DivisorDividesEverythingBelow2To31) {
  std::mt19937 random(7);
  std::vector<std::uint32_t> values = {0,  1,  2,   3,     5,     7,          31,
                                       32, 33, 255, 65535, 65536, 0x7ffffffe, 0x7fffffff};
  for (int i = 0; i < 200; ++i) values.push_back(random() & 0x7fffffff);
  for (const std::uint32_t by : values) {
    if (by == 0) continue;
    const Divisor divisor(by);
    for (const std::uint32_t n : values) ASSERT_EQ(divisor.divide(n), n / by) << n << " by " << by;
  }
}

TEST(CudaIndex, LoopsFindEveryElement) {
  Plan<2> plan;  // [2, 3, 4], the second operand broadcast along the middle
  plan.add_outer(4, {1, 1});
  plan.add_outer(3, {4, 0});
  plan.add_outer(2, {12, 4});
  plan.reverse();
  ASSERT_EQ(plan.axes, 3);
  const Loops<2> loops(plan);
  for (int i = 0; i < 24; ++i) {
    std::int32_t at[2];
    loops.at(static_cast<std::uint32_t>(i), at);
    EXPECT_EQ(at[0], i);
    EXPECT_EQ(at[1], i / 12 * 4 + i % 4);
  }
}

TEST(CudaIndex, AxesThatGoOnBecomeOne) {
  Plan<2> plan;
  plan.add_outer(4, {1, 1});
  plan.add_outer(1, {77, 0});
  plan.add_outer(3, {4, 4});
  plan.add_outer(2, {12, 12});
  plan.reverse();
  EXPECT_EQ(plan.axes, 1);
  EXPECT_EQ(plan.extent[0], 24);
}

TEST(CudaIndex, WhatNeedsMoreThan31BitsIsCut) {
  Plan<2> plan;
  const std::int64_t rows = std::int64_t{1} << 20, columns = 5000;
  plan.add_outer(columns, {1, 1});
  plan.add_outer(rows, {columns * 2, columns});
  plan.reverse();
  ASSERT_FALSE(plan.fits());
  std::int64_t elements = 0, parts = 0;
  each_part(plan, {0, 0}, [&](const Plan<2>& part, const std::int64_t(&offsets)[2]) {
    EXPECT_TRUE(part.fits());
    EXPECT_EQ(offsets[1], elements);
    EXPECT_EQ(offsets[0], elements * 2);
    elements += part.elements();
    ++parts;
  });
  EXPECT_EQ(elements, rows * columns);
  EXPECT_GT(parts, 1);
}

// As one block draws them: kState words at once.
std::vector<std::uint64_t> drawn(std::uint64_t seed, std::size_t count) {
  mersenne::State state = mersenne::seeded(seed);
  std::vector<std::uint64_t> draws;
  while (draws.size() < count) {
    mersenne::State next = state;
    for (int i = 0; i < mersenne::kShift; ++i) {
      next.word[i] =
          mersenne::twisted(state.word[i], state.word[i + 1], state.word[i + mersenne::kShift]);
    }
    for (int i = mersenne::kShift; i < mersenne::kState; ++i) {
      next.word[i] = mersenne::twisted(state.word[i],
                                       i + 1 == mersenne::kState ? next.word[0] : state.word[i + 1],
                                       next.word[i - mersenne::kShift]);
    }
    state = next;
    for (const std::uint64_t word : state.word) draws.push_back(mersenne::tempered(word));
  }
  return draws;
}

TEST(CudaRandom, DrawsAreTheStandardGenerators) {
  std::mt19937_64 standard(4614253070214989087u);
  for (const std::uint64_t draw : drawn(4614253070214989087u, 2000)) ASSERT_EQ(draw, standard());
}

TEST(CudaRandom, UniformAndNormalNumbersAreTheCpus) {
  std::mt19937_64 standard(42), again(42);
  std::uniform_real_distribution<double> unit(0, 1);
  const std::vector<std::uint64_t> draws = drawn(42, 4000);
  for (const std::uint64_t draw : draws) ASSERT_EQ(mersenne::canonical(draw), unit(standard));
  std::normal_distribution<double> normal(0, 1);
  for (std::size_t i = 0; i + 1 < draws.size(); i += 2) {
    const mersenne::Attempt attempt = mersenne::polar(draws[i], draws[i + 1]);
    if (!attempt.accepted) continue;
    ASSERT_DOUBLE_EQ(attempt.first, normal(again));
    ASSERT_DOUBLE_EQ(attempt.second, normal(again));
  }
}

TEST(CudaImage, PlacesCountEveryElement) {
  image::Size size;
  size.batch = 2, size.height = 3, size.width = 4, size.channels = 5;
  for (std::int64_t i = 0; i < 120; ++i) {
    const image::Place at(i, size);
    EXPECT_EQ(((at.batch * 3 + at.y) * 4 + at.x) * 5 + at.channel, i);
  }
}

TEST(CudaImage, TapsStayWithinTheAxis) {
  for (const bool align : {false, true}) {
    for (const bool half : {false, true}) {
      const image::Axis axis{5, image::ratio(5, 13, align), align, half};
      for (std::int64_t i = 0; i < 13; ++i) {
        const image::Tap tap = axis.bilinear(i);
        EXPECT_GE(tap.low, 0);
        EXPECT_LE(tap.high, 4);
        EXPECT_LE(tap.low, tap.high);
        EXPECT_GE(axis.nearest(i), 0);
        EXPECT_LE(axis.nearest(i), 4);
      }
    }
  }
  const image::Axis corners{5, image::ratio(5, 13, true), true, false};
  EXPECT_EQ(corners.bilinear(12).low, 4);
}

TEST(CudaImage, OverlapOfBoxes) {
  const float whole[4] = {0, 0, 2, 2}, turned[4] = {2, 2, 0, 0}, half[4] = {0, 0, 2, 1},
              apart[4] = {5, 5, 6, 6}, empty[4] = {1, 1, 1, 1};
  EXPECT_DOUBLE_EQ(intersection_over_union(whole, turned), 1);
  EXPECT_DOUBLE_EQ(intersection_over_union(whole, half), 0.5);
  EXPECT_DOUBLE_EQ(intersection_over_union(whole, apart), 0);
  EXPECT_DOUBLE_EQ(intersection_over_union(whole, empty), 0);
}

}  // namespace
}  // namespace ebb::cuda
