#include "backends/cpu/team.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

#include "backends/cpu/parallel.hpp"

namespace ebb::cpu {
namespace {

TEST(ParallelFor, CoversEachItemOnce) {
  for (const std::int64_t count : {0, 1, 2, 3, 7, 1000, 100'003}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
    parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        ++seen[static_cast<std::size_t>(i)];
      }
    });
    for (const auto& times : seen) {
      ASSERT_EQ(times.load(), 1) << count;
    }
  }
}

TEST(ParallelFor, KeepsSmallWorkOnTheCallingThread) {
  const auto caller = std::this_thread::get_id();
  int calls = 0;
  parallel_for(100, 100, [&](std::int64_t begin, std::int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 100);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
  EXPECT_EQ(calls, 1);
}

// However long the team takes to wake, much work is shared, and so are a few large items.
TEST(ParallelFor, SharesWhatIsWorthIt) {
  if (Team::size() < 2) GTEST_SKIP() << "one core";
  for (const auto& [count, grain] : {std::pair<int, int>{2, 1}, {9 * 1024, 1024}, {100'000, 1}}) {
    std::atomic<int> parts = 0;
    parallel_for(count, grain, [&](std::int64_t, std::int64_t) { ++parts; });
    EXPECT_GT(parts.load(), 1) << count;
  }
}

TEST(ParallelFor, RunsAloneInsideAlone) {
  if (Team::size() < 2) {
    GTEST_SKIP() << "one core";
  }
  {
    Alone alone(true);
    // What oneDNN asks for when it makes a primitive.
    EXPECT_EQ(Team::available(), 1);
  }
  EXPECT_EQ(Team::available(), Team::size());
}

// A small convolution between two of the program's own loops changes nothing for them.
TEST(Alone, LeavesTheProgramsChoice) {
#if defined(__SANITIZE_THREAD__) || defined(EBB_OWN_TEAM)
  GTEST_SKIP() << "the team is not OpenMP's";
#endif
  if (Team::size() < 2) {
    GTEST_SKIP() << "one core";
  }
  void* const openmp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(openmp, nullptr);
  const auto set = reinterpret_cast<void (*)(int)>(dlsym(openmp, "omp_set_num_threads"));
  const auto most = reinterpret_cast<int (*)()>(dlsym(openmp, "omp_get_max_threads"));
  const int before = most();
  set(before + 3);
  { const Alone alone(true); }
  EXPECT_EQ(most(), before + 3);
  set(before);
}

// Loops of several threads at once: one has the team, the others go on without it.
TEST(ParallelFor, ServesManyThreads) {
  std::atomic<std::int64_t> sum = 0;
  const auto work = [&] {
    for (int i = 0; i < 500; ++i) {
      parallel_for(64, 1, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum.load(), 4 * 500 * 64);
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// libgomp's default spins 3 ms or more after each loop: one core would be busy nearly all the time.
TEST(Team, WaitsPassively) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the team's threads end with each loop";
#endif
  if (Team::size() < 2 || std::getenv("OMP_WAIT_POLICY") != nullptr ||
      std::getenv("GOMP_SPINCOUNT") != nullptr) {
    GTEST_SKIP() << "one core, or told by the environment how to wait";
  }
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = cpu_seconds();
  for (int i = 0; i < 200; ++i) {
    parallel_for(2, 1, [](std::int64_t, std::int64_t) {});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const double used = cpu_seconds() - cpu_start;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  EXPECT_LT(used, 0.25 * wall.count());
}

}  // namespace
}  // namespace ebb::cpu
