// Explores one scenario: every schedule of a few preemptions as far as the time goes, then random
// ones by priorities. EBB_SCHEDULE_SECONDS says for how long.
#pragma once

#include "schedules/scheduled_std.hpp"
#include "support/seed.hpp"

namespace ebb::schedules {

inline void explore(const char* what, const Explorer::Scenario& scenario,
                    std::size_t preemptions = 3) {
  Explorer explorer;
  const double seconds = static_cast<double>(test::from_environment("EBB_SCHEDULE_SECONDS", 3));
  explorer.seconds = seconds;
  EXPECT_TRUE(explorer.all(preemptions, scenario)) << explorer.failure();
  const std::uint64_t exhaustive = explorer.schedules();
  const bool complete = explorer.complete();
  explorer.seconds = seconds / 2;
  EXPECT_TRUE(explorer.some(4, test::seed_for(what, 1), scenario)) << explorer.failure();
  test::note("{}: {} schedules of at most {} preemptions ({}), {} by priorities", what, exhaustive,
             preemptions, complete ? "all" : "not all", explorer.schedules() - exhaustive);
}

}  // namespace ebb::schedules
