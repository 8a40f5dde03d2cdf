#include "backends/cpu/crew.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

namespace ebb::cpu {
namespace {

using namespace std::chrono_literals;

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Counts {
  std::vector<std::atomic<int>> times;
  std::atomic<int> helped = 0;
  std::thread::id caller = std::this_thread::get_id();
  std::chrono::microseconds a_part{0};

  explicit Counts(int parts) : times(static_cast<std::size_t>(parts)) {}
  // A part for each.
  SharedLoop::Work work(bool is_turned = false) {
    const int parts = static_cast<int>(times.size());
    return {part, this, parts, parts, is_turned};
  }
  static void part(void* data, std::int64_t begin, std::int64_t end) {
    Counts& counts = *static_cast<Counts*>(data);
    EXPECT_EQ(end, begin + 1);
    ++counts.times[static_cast<std::size_t>(begin)];
    if (std::this_thread::get_id() != counts.caller) ++counts.helped;
    const auto until = std::chrono::steady_clock::now() + counts.a_part;
    while (counts.a_part.count() != 0 && std::chrono::steady_clock::now() < until) {
    }
  }
  void expect_once() const {
    for (const auto& each : times) ASSERT_EQ(each.load(), 1);
  }
};

// While it lives, the crew works for this thread.
struct Hired {
  Hired() {
    while (!Crew::here().hire()) std::this_thread::yield();
  }
  ~Hired() { Crew::here().dismiss(); }
};

TEST(Crew, MakesEachPartOnce) {
  const Hired hired;
  Crew::here().call(3);
  for (int i = 0; i < 3000; ++i) {
    Counts counts(1 + i % 17);
    Crew::here().run(counts.work());
    counts.expect_once();
    if (i % 100 == 50) Crew::here().rest();
    if (i % 100 == 70) Crew::here().call(3);
  }
}

TEST(Crew, MakesEachPartOnceWhereEachThreadHasItsOwn) {
  const Hired hired;
  Crew::here().call(3);
  for (int i = 0; i < 3000; ++i) {
    Counts counts(1 + i % 4);
    Crew::here().run_apart(counts.work(i % 2 == 1));
    counts.expect_once();
    if (i % 100 == 50) Crew::here().rest();
    if (i % 100 == 70) Crew::here().call(3);
  }
}

TEST(Crew, GivesItsThreadTheSamePartInEachLoop) {
  const Hired hired;
  std::array<int, 2> own{};
  struct Loop {
    std::array<int, 2>& own;
    std::thread::id caller = std::this_thread::get_id();
  } loop{own};
  const SharedLoop::Body body = [](void* data, std::int64_t begin, std::int64_t) {
    const Loop& here = *static_cast<Loop*>(data);
    if (std::this_thread::get_id() == here.caller) ++here.own[static_cast<std::size_t>(begin)];
  };
  Crew::here().call(1);
  for (int i = 0; i < 200; ++i) Crew::here().run_apart({body, &loop, 2, 2, false});
  EXPECT_EQ(own[0], 200);
  own = {};
  for (int i = 0; i < 200; ++i) Crew::here().run_apart({body, &loop, 2, 2, true});
  EXPECT_EQ(own[1], 200);
}

TEST(Crew, HelpsWithLongParts) {
  const Hired hired;
  // Much longer than a thread takes to wake, on a busy machine too.
  for (int i = 0; i < 50; ++i) {
    Crew::here().call(1);
    Counts counts(8);
    counts.a_part = 2ms;
    Crew::here().run(counts.work());
    counts.expect_once();
    if (counts.helped > 0) return;
  }
  FAIL() << "nobody came";
}

TEST(Crew, WaitsForNobodyWhoDoesNotCome) {
  const Hired hired;
  Crew::here().rest();
  Counts counts(5);
  Crew::here().run(counts.work());
  counts.expect_once();
}

TEST(Crew, WorksForOneThreadAtATime) {
  const Hired hired;
  std::thread([] { EXPECT_FALSE(Crew::here().hire()); }).join();
}

TEST(Crew, ServesThreadsInTurn) {
  std::atomic<int> loops = 0;
  const auto work = [&] {
    for (int i = 0; i < 300; ++i) {
      const Hired hired;
      Crew::here().call(2);
      Counts counts(6);
      Crew::here().run(counts.work());
      counts.expect_once();
      ++loops;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(work);
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(loops.load(), 900);
}

TEST(Crew, SleepsWhenNothingComes) {
  {
    const Hired hired;
    Crew::here().call(2);
  }
  std::this_thread::sleep_for(20ms);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(200ms);
  EXPECT_LT(cpu_seconds() - before, 0.05);
}

// Also one that nobody dismisses: it was called, and then its thread does something else for long.
TEST(Crew, SleepsWhileItsThreadDoesSomethingElse) {
  const Hired hired;
  Crew::here().call(2);
  std::this_thread::sleep_for(20ms);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(200ms);
  EXPECT_LT(cpu_seconds() - before, 0.05);
  Counts counts(4);
  Crew::here().call(2);
  Crew::here().run(counts.work());
  counts.expect_once();
}

#if !defined(__SANITIZE_THREAD__)  // which does not know threads of a child
TEST(Crew, IsAnotherInTheChildOfAFork) {
  const Hired hired;
  Crew::here().call(2);
  Counts before(4);
  Crew::here().run(before.work());
  const pid_t child = fork();
  if (child == 0) {
    if (!Crew::here().hire()) _exit(2);
    Crew::here().call(2);
    for (int i = 0; i < 100; ++i) {
      Counts counts(7);
      Crew::here().run(counts.work());
      for (const auto& each : counts.times)
        if (each != 1) _exit(3);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

}  // namespace
}  // namespace ebb::cpu
