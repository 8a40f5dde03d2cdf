// Contexts under pressure, with the garbage model as their host: on another runtime's memory and on
// Ebb's own.
#include <algorithm>

#include "governor/garbage_model.hpp"
#include "support/audited.hpp"
#include "support/hosts.hpp"

namespace ebb::test {
namespace {

class GarbageHost : public Host {
 public:
  bool can_collect() const override { return true; }
  std::uint64_t collect(Collection kind) override {
    ++collections;
    model.collect(kind);
    return 1;  // next to nothing on the real clock: collections are not what is rationed here
  }
  void warn(std::string_view) override { ++warnings; }

  std::uint64_t collections = 0, warnings = 0;
  GarbageModel model{{}, [](std::uint64_t id, std::uint64_t) { Context::orphan(id); }};
};

class ContextGovernor : public testing::Test {
 protected:
  OpenDevice wasm{DeviceOptions{.kind = DeviceKind::kForeign, .name = "governed"}};
  GarbageHost host;
  ContextPtr context = Context::create({.name = "governed", .host = &host});

  // `told`: the host knows what comes next.
  void play(const Workload& workload, bool told = true) {
    peak = 0;
    for (std::uint64_t step = 0; step < workload.steps; ++step) {
      const Birth birth = workload.birth(step);
      host.model.step();
      context->safe_point(wasm.get(), told ? birth.bytes : 0);
      host.model.born(context->adopt({.device = wasm.get(), .bytes = birth.bytes}), birth);
      peak = std::max(peak, wasm->in_use());
    }
  }
  std::uint64_t peak = 0;  // of the last play
};

TEST_F(ContextGovernor, KeepsAHardBudgetWhereTheLiveSetFits) {
  const ReclaimOn on;
  for (const Workload& workload : workloads_that_fit()) {
    wasm->set_budget(kBudgetBytes, BudgetMode::kHard);
    ASSERT_NO_THROW(play(workload)) << workload.name;
    EXPECT_LE(peak, kBudgetBytes) << workload.name;
    context = Context::create({.name = workload.name, .host = &host});
  }
  EXPECT_GT(host.collections, 0u);
  EXPECT_EQ(host.warnings, 0u);
}

TEST_F(ContextGovernor, KeepsASoftBudgetUpToTheBirthItDoesNotKnowOf) {
  const ReclaimOn on;
  for (const Workload& workload : workloads_that_fit()) {
    wasm->set_budget(kBudgetBytes, BudgetMode::kSoft);
    std::uint64_t largest = 0;
    for (std::uint64_t step = 0; step < workload.steps; ++step) {
      largest = std::max(largest, workload.birth(step).bytes);
    }
    play(workload, false);
    EXPECT_LE(peak, kBudgetBytes + largest) << workload.name;
    context = Context::create({.name = workload.name, .host = &host});
  }
}

TEST_F(ContextGovernor, CollectsNothingWhereAllIsReachableAndFits) {
  const ReclaimOn on;
  wasm->set_budget(kBudgetBytes, BudgetMode::kHard);
  play(all_reachable(kBudgetBytes / 100));
  EXPECT_EQ(wasm->in_use(), kBudgetBytes);
  EXPECT_EQ(host.collections, 0u);
}

TEST_F(ContextGovernor, AHardBudgetThatIsPassedIsAnErrorAndTheProgramMayGoOn) {
  const ReclaimOn on;
  wasm->set_budget(kBudgetBytes, BudgetMode::kHard);
  EXPECT_THROW(play(all_reachable(200)), OutOfMemory);
  EXPECT_EQ(wasm->in_use(), kBudgetBytes);
  EXPECT_NO_THROW(context->safe_point(wasm.get(), 0));
}

TEST_F(ContextGovernor, ASoftBudgetThatIsPassedIsSaidOnce) {
  const ReclaimOn on;
  wasm->set_budget(kBudgetBytes, BudgetMode::kSoft);
  play(all_reachable(1000));
  EXPECT_EQ(host.warnings, 1u);
  // A sixteenth of the budget must be born before the next is tried.
  EXPECT_LE(host.collections, 2 + 2 * 1000u * 100 / (kBudgetBytes / 16));
}

TEST_F(ContextGovernor, RecoversAfterAnOverrun) {
  const ReclaimOn on;
  wasm->set_budget(kBudgetBytes, BudgetMode::kSoft);
  play({"too much for a while", 150, [](std::uint64_t) { return Birth{100, 200}; }});
  EXPECT_GT(wasm->in_use(), kBudgetBytes);
  play({"then little", 3000, [](std::uint64_t) { return Birth{100, 2}; }});
  for (int i = 0; i < 500; ++i) {
    play({"and little", 1, [](std::uint64_t) { return Birth{100, 2}; }});
    ASSERT_LE(wasm->in_use(), kBudgetBytes);
  }
  EXPECT_EQ(host.warnings, 1u);
}

TEST_F(ContextGovernor, WithReclaimOffNothingIsCollectedOrSaid) {
  wasm->set_budget(kBudgetBytes, BudgetMode::kSoft);
  for (const Workload& workload : workloads_that_fit()) play(workload);
  EXPECT_EQ(host.collections, 0u);
  EXPECT_EQ(host.warnings, 0u);
}

TEST_F(ContextGovernor, SwitchedOnInTheMiddleItComesBackUnderTheBudget) {
  wasm->set_budget(kBudgetBytes, BudgetMode::kHard);
  play(workloads_that_fit()[0]);
  EXPECT_GT(wasm->in_use(), 10 * kBudgetBytes);
  const ReclaimOn on;
  EXPECT_NO_THROW(context->safe_point(wasm.get(), 100));
  EXPECT_LE(wasm->in_use() + 100, kBudgetBytes);
}

// The pool's own memory: make() climbs by itself.
TEST_F(ContextGovernor, KeepsThePoolUnderItsBudget) {
  const ReclaimOn on;
  constexpr std::uint64_t kUnit = 1024;  // a byte of the model stands for so many
  OpenDevice cpu(DeviceOptions{.kind = DeviceKind::kSimulated,
                               .name = "governed cpu",
                               .capacity = 64 << 20,
                               .budget = 2 * kBudgetBytes * kUnit});
  for (const Workload& workload : workloads_that_fit()) {
    for (std::uint64_t step = 0; step < workload.steps; ++step) {
      const Birth birth = workload.birth(step);
      host.model.step();
      const auto elements = static_cast<std::int64_t>(birth.bytes * kUnit / 4);
      host.model.born(context->make({.device = cpu.get(), .shape = {elements}}), birth);
      ASSERT_LE(cpu->committed(), 2 * kBudgetBytes * kUnit) << workload.name;
    }
    context = Context::create({.name = workload.name, .host = &host});
  }
  EXPECT_GT(host.collections, 0u);
  context.reset();
}

}  // namespace
}  // namespace ebb::test
