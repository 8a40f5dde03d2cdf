// Random calls of ebb.h with names that are valid, stale, forged or another context's, and absurd
// sizes: what the fuzzer does, from seeds. EBB_CAPI_CALLS says how many, EBB_SEED repeats one run;
// tests/soak/calls.cpp makes very many.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fuzz/support/capi_machine.hpp"
#include "support/seed.hpp"

namespace ebb::model {
namespace {

TEST(CapiCalls, GiveAStatusAndBooksThatBalance) {
  const std::uint64_t wanted = test::from_environment("EBB_CAPI_CALLS", 60000);
  std::mt19937_64 random(test::seed_for("capi", 400));
  std::vector<std::uint8_t> bytes(32 << 10);
  std::uint64_t calls = 0;
  while (calls < wanted) {
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
    fuzz::Machine machine(fuzz::Input(bytes.data(), bytes.size()));
    machine.run();
    machine.finish();
    calls += machine.calls();
  }
  ASSERT_EQ(ebb_trace_set(EBB_TRACE_OFF), EBB_OK);
  ebb_reclaim_set(0);
  test::note("capi: {} calls", calls);
}

}  // namespace
}  // namespace ebb::model
