#include "backends/cpu/shift.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "backends/cpu/team.hpp"
#include "backends/cpu/wake.hpp"

namespace ebb::cpu {
namespace {

// A run of a program, as its kernels hear of it.
struct ProgramRun {
  explicit ProgramRun(ops::ProgramPace& given) : pace(given) { shift_hooks().begin(pace); }
  ~ProgramRun() { shift_hooks().end(pace, completed); }
  ops::ProgramPace& pace;
  bool completed = true;
};

// A program that has run often enough, and takes long.
void make_long(ops::ProgramPace& pace) {
  pace.runs = Shift::kRunsAlone;
  pace.least_us = 10 * Shift::kLeastMicroseconds;
  pace.own_loops = 10;
}

TEST(Shift, IsOnForTheThreadOfTheRun) {
  ops::ProgramPace pace;
  EXPECT_FALSE(Shift::is_on());
  {
    const ProgramRun run(pace);
    EXPECT_TRUE(Shift::is_on());
    std::thread([] { EXPECT_FALSE(Shift::is_on()); }).join();
  }
  EXPECT_FALSE(Shift::is_on());
}

TEST(Shift, MeasuresTheFirstRuns) {
  ops::ProgramPace pace;
  for (std::uint32_t i = 0; i < Shift::kRunsAlone; ++i) {
    const ProgramRun run(pace);
    EXPECT_FALSE(Shift::has_crew());
    parallel_for(1 << 20, 1 << 10, [](std::int64_t, std::int64_t) {});
    Shift::begin_library_loop();
  }
  EXPECT_EQ(pace.runs.load(), Shift::kRunsAlone);
  EXPECT_LT(pace.least_us.load(), 1'000'000U);
  EXPECT_EQ(pace.own_loops.load(), 1U);
  EXPECT_EQ(pace.library_loops.load(), 1U);
}

TEST(Shift, HasNoCrewWhereARunIsShortOrHasNothingToShare) {
  ops::ProgramPace pace;
  make_long(pace);
  pace.least_us = Shift::kLeastMicroseconds - 1;
  {
    const ProgramRun run(pace);
    EXPECT_FALSE(Shift::has_crew());
  }
  make_long(pace);
  pace.own_loops = 0;
  const ProgramRun run(pace);
  EXPECT_FALSE(Shift::has_crew());
}

// The machine says from where on it is worth it.
TEST(Shift, AsksHowLongTheTeamTakesToWake) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  const double wakes = Shift::kLeastWakes * std::min(wake_microseconds(), Shift::kMostWake);
  ASSERT_GT(wakes, 0);
  EXPECT_EQ(wake_microseconds(), wake_microseconds());
  for (const std::uint32_t us : {40U, 60U, 80U, 99U, 100U}) {
    SCOPED_TRACE(us);
    ops::ProgramPace pace;
    make_long(pace);
    pace.least_us = us;
    const ProgramRun run(pace);
    EXPECT_EQ(Shift::has_crew(), us >= wakes);
  }
}

// What such a thread would measure is no waking at all, and would be believed from then on.
TEST(Shift, AThreadWithoutATeamMeasuresNothing) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  const double measured = wake_microseconds();
  {
    const Alone alone(true);
    EXPECT_EQ(wake_microseconds(), kUsualWake);
  }
  EXPECT_EQ(wake_microseconds(), measured);
}

// One that threw says nothing of how long the others take.
TEST(Shift, LearnsNothingOfRunsThatDidNotComplete) {
  ops::ProgramPace pace;
  {
    ProgramRun run(pace);
    run.completed = false;
  }
  EXPECT_EQ(pace.runs.load(), 0U);
}

TEST(Shift, HasTheCrewWhereARunIsLong) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  ops::ProgramPace pace;
  make_long(pace);
  {
    const ProgramRun run(pace);
    EXPECT_TRUE(Shift::has_crew());
    std::thread([&] {
      const ProgramRun another(pace);
      EXPECT_TRUE(Shift::is_on());
      EXPECT_FALSE(Shift::has_crew());
    }).join();
    EXPECT_TRUE(Shift::has_crew());
  }
  const ProgramRun again(pace);
  EXPECT_TRUE(Shift::has_crew());
}

TEST(Shift, HasNoCrewWhereARunIsShort) {
  ops::ProgramPace pace;
  make_long(pace);
  pace.least_us = Shift::kLeastMicroseconds - 1;
  const ProgramRun run(pace);
  EXPECT_FALSE(Shift::has_crew());
}

TEST(Shift, LeavesTheCoresToOneDnnsTeamWhereThatHasManyLoops) {
  ops::ProgramPace pace;
  make_long(pace);
  pace.library_loops = 3;
  const ProgramRun run(pace);
  EXPECT_FALSE(Shift::has_crew());
}

TEST(Shift, CutsLoopsFinerAndCoversThem) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  ops::ProgramPace pace;
  make_long(pace);
  const ProgramRun run(pace);
  for (const std::int64_t count : {1, 2, 100, 1024, 1025, 100'003}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
    std::atomic<int> parts = 0;
    parallel_for(count, 1024, [&](std::int64_t begin, std::int64_t end) {
      ++parts;
      for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    for (const auto& times : seen) ASSERT_EQ(times.load(), 1) << count;
    EXPECT_EQ(parts.load() > 1, count > 1024 / Shift::kFiner) << count;
  }
}

TEST(Shift, LetsALoopBeInsideAPart) {
  ops::ProgramPace pace;
  make_long(pace);
  const ProgramRun run(pace);
  std::atomic<std::int64_t> sum = 0;
  parallel_for(64, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      parallel_for(8, 1, [&](std::int64_t from, std::int64_t to) { sum += to - from; });
    }
  });
  EXPECT_EQ(sum.load(), 64 * 8);
}

// Between loops of the crew there may be one of oneDNN's, whose threads need the cores.
TEST(Shift, GoesOnAfterALoopOfOneDnns) {
  ops::ProgramPace pace;
  make_long(pace);
  const ProgramRun run(pace);
  std::atomic<std::int64_t> sum = 0;
  for (int i = 0; i < 100; ++i) {
    parallel_for(64, 1, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    Shift::begin_library_loop();
  }
  EXPECT_EQ(sum.load(), 6400);
}

}  // namespace
}  // namespace ebb::cpu
