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

// A program that has run often enough, takes long, and half as long with the crew.
void make_long(ops::ProgramPace& pace) {
  pace.runs = Shift::kRunsAlone + Shift::kRunsShared;
  pace.alone_ns = 10 * Shift::kLeastNs;
  pace.shared_ns = 5 * Shift::kLeastNs;
  pace.until_look = Shift::kRunsBetween;
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
  EXPECT_GT(pace.alone_ns.load(), 0U);
  EXPECT_LT(pace.alone_ns.load(), 1'000'000'000U);
  EXPECT_EQ(pace.shared_ns.load(), 0U);
  EXPECT_EQ(pace.own_loops.load(), 1U);
  EXPECT_EQ(pace.library_loops.load(), 1U);
}

TEST(Shift, HasNoCrewWhereARunIsShortOrHasNothingToShare) {
  ops::ProgramPace pace;
  make_long(pace);
  pace.runs = Shift::kRunsAlone;
  pace.shared_ns = 0;
  pace.alone_ns = Shift::kLeastNs - 1;
  {
    const ProgramRun run(pace);
    EXPECT_FALSE(Shift::has_crew());
  }
  make_long(pace);
  pace.own_loops = 0;
  const ProgramRun run(pace);
  EXPECT_FALSE(Shift::has_crew());
}

// At the border one that was measured with the crew does not go to and fro.
TEST(Shift, LetsGoOfTheCrewWhereARunIsMuchShorter) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  for (const std::uint32_t alone_ns : {Shift::kLeastNs - 1, Shift::kLeastNs / 2 - 1}) {
    ops::ProgramPace pace;
    make_long(pace);
    pace.alone_ns = alone_ns;
    pace.shared_ns = alone_ns / 2;
    const ProgramRun run(pace);
    EXPECT_EQ(Shift::has_crew(), alone_ns >= Shift::kLeastNs / 2);
  }
}

// It was measured when the machine was idle, or when it was heard by a tape.
TEST(Shift, LooksAtShortProgramsAgain) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  ops::ProgramPace pace;
  const auto run_until_helped = [&] {
    for (std::uint32_t i = 0; i < 10 * Shift::kRunsBetween; ++i) {
      const ProgramRun run(pace);
      if (Shift::has_crew()) return true;
      parallel_for(1 << 20, 1 << 10, [](std::int64_t, std::int64_t) {});
      std::this_thread::sleep_for(std::chrono::microseconds(3 * Shift::kLeastNs / 1000));
    }
    return false;
  };
  pace.runs = Shift::kRunsAlone;
  pace.alone_ns = Shift::kLeastNs / 8;
  pace.own_loops = 1;
  EXPECT_TRUE(run_until_helped());
  pace.own_loops = 0;
  EXPECT_TRUE(run_until_helped());
  pace.library_loops = 100;
  EXPECT_TRUE(run_until_helped());
}

// So does one whose first runs were alone, until it is known what they take with it.
TEST(Shift, HasTheCrewWhereARunTakesLessWithIt) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  for (const std::uint32_t percent : {10U, 94U, 96U, 100U, 500U}) {
    SCOPED_TRACE(percent);
    ops::ProgramPace pace;
    make_long(pace);
    pace.shared_ns = pace.alone_ns / 100 * percent;
    {
      ProgramRun run(pace);
      run.completed = false;
      EXPECT_EQ(Shift::has_crew(), percent < 95);
    }
    pace.runs = Shift::kRunsAlone;
    const ProgramRun run(pace);
    EXPECT_TRUE(Shift::has_crew());
  }
}

// Runs for which another thread had the crew say nothing of what they take with it.
TEST(Shift, MeasuresTheCrewOnlyWhereItCame) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  ops::ProgramPace pace, another;
  make_long(pace);
  make_long(another);
  pace.runs = Shift::kRunsAlone;
  pace.shared_ns = 0;
  {
    const ProgramRun has_it(another);
    std::thread([&] {
      for (std::uint32_t i = 0; i < 3 * Shift::kRunsShared; ++i) {
        const ProgramRun run(pace);
        EXPECT_FALSE(Shift::has_crew());
        parallel_for(1 << 20, 1 << 10, [](std::int64_t, std::int64_t) {});
        std::this_thread::sleep_for(std::chrono::microseconds(Shift::kLeastNs / 500));
      }
    }).join();
  }
  EXPECT_EQ(pace.shared_ns.load(), 0U);
  for (std::uint32_t i = 0; i < Shift::kRunsShared; ++i) {
    EXPECT_EQ(pace.runs.load(), Shift::kRunsAlone + i);
    const ProgramRun run(pace);
    EXPECT_TRUE(Shift::has_crew());
  }
  EXPECT_EQ(pace.runs.load(), Shift::kRunsAlone + Shift::kRunsShared);
  EXPECT_GT(pace.shared_ns.load(), 0U);
}

// Helpers that sleep are late for the first.
TEST(Shift, MeasuresTheLastRunOfALook) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  ops::ProgramPace pace;
  make_long(pace);
  const std::uint32_t known = pace.shared_ns = 2 * pace.alone_ns;
  pace.until_look = Shift::kRunsOfALook;
  for (std::uint32_t i = 0; i <= Shift::kRunsOfALook; ++i) {
    EXPECT_EQ(pace.shared_ns.load(), known);
    const ProgramRun run(pace);
    EXPECT_EQ(Shift::has_crew(), i > 0);
    parallel_for(1 << 20, 1 << 10, [](std::int64_t, std::int64_t) {});
    std::this_thread::sleep_for(std::chrono::microseconds(20 * Shift::kLeastNs / 1000));
  }
  EXPECT_NE(pace.shared_ns.load(), known);
}

// Less often the more it would cost.
TEST(Shift, MeasuresTheOtherWayNowAndThen) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  for (const bool pays : {true, false}) {
    for (const std::uint32_t times : {1U, 2U, 10U}) {
      SCOPED_TRACE(testing::Message() << "pays " << pays << ", times " << times);
      ops::ProgramPace pace;
      make_long(pace);
      const std::uint32_t better = 10 * Shift::kLeastNs;
      (pays ? pace.shared_ns : pace.alone_ns) = better - (pays ? better / 10 : 0);
      (pays ? pace.alone_ns : pace.shared_ns) = times * better;
      pace.until_look = 0;
      std::uint32_t others = 0;
      for (std::uint32_t i = 0; i < 2 * times * Shift::kRunsBetween; ++i) {
        ProgramRun run(pace);
        run.completed = false;
        others += Shift::has_crew() != pays ? 1 : 0;
      }
      EXPECT_GE(others, 2 * Shift::kRunsOfALook - 1);
      EXPECT_LE(others, 3 * Shift::kRunsOfALook);
    }
  }
}

// A run that was held up says little; where all take longer, it is soon known.
TEST(Shift, FollowsWhatRunsTake) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  ops::ProgramPace pace;
  make_long(pace);
  const std::uint32_t before = pace.shared_ns;
  const auto run = [&] {
    const ProgramRun once(pace);
    EXPECT_TRUE(Shift::has_crew());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  run();
  EXPECT_GT(pace.shared_ns.load(), before);
  EXPECT_LT(pace.shared_ns.load(), 2 * before);
  while (pace.shared_ns < pace.alone_ns * (1 - Shift::kLeastGain)) run();
  const ProgramRun once(pace);
  EXPECT_FALSE(Shift::has_crew());
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
    ProgramRun run(pace);
    run.completed = false;
    EXPECT_TRUE(Shift::has_crew());
    std::thread([&] {
      ProgramRun another(pace);
      another.completed = false;
      EXPECT_TRUE(Shift::is_on());
      EXPECT_FALSE(Shift::has_crew());
    }).join();
    EXPECT_TRUE(Shift::has_crew());
  }
  const ProgramRun again(pace);
  EXPECT_TRUE(Shift::has_crew());
}

// A callback of the host's, called for memory within a run, may run one.
TEST(Shift, AProgramInsideAnotherIsAPartOfIt) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  ops::ProgramPace outer, inner;
  make_long(outer);
  {
    const ProgramRun run(outer);
    EXPECT_TRUE(Shift::has_crew());
    { const ProgramRun within(inner); }
    EXPECT_TRUE(Shift::is_on());
    EXPECT_TRUE(Shift::has_crew());
  }
  EXPECT_EQ(inner.runs.load(), 0U);
  EXPECT_FALSE(Shift::is_on());
}

// Numbers that are lost, or stored late by a thread that was held up, are right again after some runs.
TEST(Shift, ComesRoundFromAnyPace) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  for (const std::uint32_t alone_ns : {0U, 1U, Shift::kLeastNs, 1'000'000U}) {
    for (const std::uint32_t shared_ns : {0U, 1U, Shift::kLeastNs, 1'000'000U}) {
      SCOPED_TRACE(testing::Message() << "alone " << alone_ns << ", shared " << shared_ns);
      ops::ProgramPace pace;
      make_long(pace);
      pace.alone_ns = alone_ns;
      pace.shared_ns = shared_ns;
      pace.until_look = 0;
      const auto is_right = [](std::uint32_t ns) { return ns > 50'000 && ns < 50'000'000; };
      for (int i = 0; i < 100'000; ++i) {
        if (is_right(pace.alone_ns) && is_right(pace.shared_ns)) break;
        pace.until_look = std::min<std::uint32_t>(pace.until_look, 4);  // sooner than it would be
        const ProgramRun run(pace);
        parallel_for(1 << 20, 1 << 10, [](std::int64_t, std::int64_t) {});
        std::this_thread::sleep_for(std::chrono::microseconds(60));
      }
      EXPECT_TRUE(is_right(pace.alone_ns)) << pace.alone_ns;
      EXPECT_TRUE(is_right(pace.shared_ns)) << pace.shared_ns;
    }
  }
}

TEST(Shift, SeveralThreadsRunAProgramAtOnce) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  ops::ProgramPace pace;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        const ProgramRun run(pace);
        parallel_for(1 << 20, 1 << 10, [](std::int64_t, std::int64_t) {});
        std::this_thread::sleep_for(std::chrono::microseconds(60));
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_GE(pace.runs.load(), Shift::kRunsAlone);
  EXPECT_LE(pace.runs.load(), Shift::kRunsAlone + Shift::kRunsShared);
  EXPECT_GT(pace.alone_ns.load(), 50'000U);
  EXPECT_EQ(pace.own_loops.load(), 1U);
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
