// Random operations with random operands and attributes: what the fuzzer does, from seeds.
// EBB_OPS_CALLS says how many, EBB_SEED repeats one run.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fuzz/support/ops_machine.hpp"
#include "support/seed.hpp"

namespace ebb::model {
namespace {

TEST(OpsCalls, GiveAResultOrAnErrorWithAName) {
  const std::uint64_t wanted = test::from_environment("EBB_OPS_CALLS", 20000);
  std::mt19937_64 random(test::seed_for("ops", 300));
  std::vector<std::uint8_t> bytes(16 << 10);
  std::uint64_t calls = 0, succeeded = 0, passed = 0, gradients = 0, ran = 0;
  while (calls < wanted) {
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
    fuzz::OpsMachine machine(fuzz::Input(bytes.data(), bytes.size()));
    machine.run();
    calls += machine.calls();
    succeeded += machine.succeeded();
    passed += machine.passed();
    gradients += machine.gradients();
    ran += machine.ran();
    machine.finish();
  }
  test::note(
      "ops: {} calls, {} succeeded; {} ways back over a tape, {} gradients, {} runs of programs",
      calls, succeeded, passed, gradients, ran);
  EXPECT_GT(succeeded, calls / 20);
  EXPECT_GT(passed, calls / 100);
  EXPECT_GT(gradients, calls / 2000);
  EXPECT_GT(ran, calls / 1000);
}

}  // namespace
}  // namespace ebb::model
