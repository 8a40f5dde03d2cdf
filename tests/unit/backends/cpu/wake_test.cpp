#include "backends/cpu/wake.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/cpu/team.hpp"
#include "process/child.hpp"
#include "support/cpu_time.hpp"

namespace ebb::cpu {
namespace {

constexpr unsigned kSeconds = 60;

// Each loop and product asks; measuring takes 0.75 ms.
void ask_often() {
  const double first = wake_microseconds();
  EXPECT_GE(first, kUsualWake);
  const test::CpuTime asking;
  for (int i = 0; i < 200; ++i) ASSERT_EQ(wake_microseconds(), first);
  EXPECT_LT(asking.ms(), 15);
}

TEST(Wake, IsMeasuredOnce) { ask_often(); }

// libgomp reads the environment when it is loaded, so each case has a process of its own.

TEST(Child, DISABLED_HasAThreadLimit) {
  ::setenv("OMP_THREAD_LIMIT", "1", 1);
  ask_often();
  EXPECT_EQ(wake_microseconds(), kUsualWake);
}
TEST(Child, DISABLED_HasNoParallelLevels) {
  ::setenv("OMP_MAX_ACTIVE_LEVELS", "0", 1);
  ask_often();
  EXPECT_EQ(wake_microseconds(), kUsualWake);
}
TEST(Child, DISABLED_HasATeamThatSpins) {
  ::setenv("OMP_WAIT_POLICY", "active", 1);
  ask_often();
}

TEST(Wake, IsTheUsualWhereNobodyComes) {
#if defined(EBB_OWN_TEAM)
  GTEST_SKIP() << "the team is not OpenMP's";
#endif
  EXPECT_EQ(test::in_new_process(kSeconds, "HasAThreadLimit"), 0);
  EXPECT_EQ(test::in_new_process(kSeconds, "HasNoParallelLevels"), 0);
}

TEST(Wake, IsMeasuredOnceWhereTheTeamSpins) {
  EXPECT_EQ(test::in_new_process(kSeconds, "HasATeamThatSpins"), 0);
}

}  // namespace
}  // namespace ebb::cpu
