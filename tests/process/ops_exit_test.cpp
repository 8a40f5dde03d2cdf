// A program may end while its threads are inside Ebb.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "process/child.hpp"
#include "process/ops_work.hpp"
#include "support/seed.hpp"

namespace ebb::test {
namespace {

constexpr unsigned kSeconds = 60;

// New shapes all the time: a plan is made, another given up.
void convolve_for_ever() {
  Session session;
  for (std::int64_t size = 8;; size = size == 40 ? 8 : size + 1) {
    static_cast<void>(ops::conv2d(ones({1, size, size, 8}), ones({5, 5, 8, 8}),
                                  {.output_size = {size - 4, size - 4}}));
  }
}

TEST(Child, DISABLED_EndsWhileThreadsConvolve) {
  for (int i = 0; i < 4; ++i) std::thread(convolve_for_ever).detach();
  {
    Session session;
    if (!convolves()) std::exit(1);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::exit(0);
}

// A pool of threads that outlives everything else joins them at the end; they are told that it has
// come.
TEST(Child, DISABLED_JoinsThreadsAtItsEnd) {
  struct Pool {
    std::thread thread;
    ~Pool() { thread.join(); }
  };
  static Pool pool;
  pool.thread = std::thread([] {
    try {
      convolve_for_ever();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kWrongState) std::_Exit(3);
    }
  });
  {
    Session session;
    if (!convolves()) std::exit(1);
  }
  std::exit(0);
}

TEST(Exit, WhileThreadsConvolve) {
  const auto runs = from_environment("EBB_EXITS", 30);
  int failed = 0;
  for (std::uint64_t i = 0; i < runs; ++i) {
    failed += in_new_process(kSeconds, "EndsWhileThreadsConvolve") == 0 ? 0 : 1;
  }
  note("exit: {} processes ended while 4 threads convolve", runs);
  EXPECT_EQ(failed, 0);
}

TEST(Exit, WhereADestructorWaitsForAThreadThatConvolves) {
  EXPECT_EQ(in_new_process(kSeconds, "JoinsThreadsAtItsEnd"), 0);
}

}  // namespace
}  // namespace ebb::test
