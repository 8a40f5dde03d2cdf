// Explores one scenario: every schedule of a few preemptions as far as the time goes, the same with
// old values, then random ones by priorities. EBB_SCHEDULE_SECONDS says for how long.
#pragma once

#include "schedules/orders.hpp"
#include "schedules/scheduled_std.hpp"
#include "support/seed.hpp"

namespace ebb::schedules {

// kOld: where a scenario can be set up a limited number of times only, which the others would use up.
enum class Values { kAll, kOld };

inline void explore(const char* what, const Explorer::Scenario& scenario,
                    std::size_t preemptions = 3, Values values = Values::kAll) {
  Explorer explorer;
  const double seconds = test::seconds_from_environment("EBB_SCHEDULE_SECONDS", 1.2);
  const auto all = [&](bool old_values, double share) {
    const std::uint64_t before = explorer.schedules();
    explorer.old_values = old_values;
    explorer.seconds = seconds * share;
    EXPECT_TRUE(explorer.all(preemptions, scenario)) << explorer.failure();
    return fmt::format("{} ({})", explorer.schedules() - before,
                       explorer.complete() ? "all" : "not all");
  };
  const std::string plain = values == Values::kAll ? all(false, 1) : "0";
  const std::string with_old = all(true, 0.5);
  const std::uint64_t exhaustive = explorer.schedules();
  EXPECT_TRUE(explorer.some(4, test::seed_for(what, 1), scenario)) << explorer.failure();
  test::note("{}: {} schedules of at most {} preemptions, {} with old values, {} by priorities",
             what, plain, preemptions, with_old, explorer.schedules() - exhaustive);
  const auto& test = *testing::UnitTest::GetInstance()->current_test_info();
  write_orders_met(fmt::format("{}.{}", test.test_suite_name(), test.name()));
}

}  // namespace ebb::schedules
