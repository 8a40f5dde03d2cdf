// Random calls with tapes open, nested and in any order, against a model; see TapeWorld. EBB_TAPES
// says how many worlds, EBB_SEED repeats one run.
#include <gtest/gtest.h>

#include <thread>

#include "model/grad_tape_world.hpp"
#include "support/seed.hpp"

namespace ebb::model {
namespace {

constexpr int kSteps = 400;

class TapesModel : public testing::Test {
 protected:
  void SetUp() override {
    ebb_device_options device{};
    device.size = sizeof(device);
    device.name = "tapes";
    ASSERT_EQ(ebb_device_open(&device, &device_), EBB_OK) << ebb_last_error();
    ebb_context_options context{};
    context.size = sizeof(context);
    context.name = "tapes";
    for (ebb_context& each : contexts_) ASSERT_EQ(ebb_context_create(&context, &each), EBB_OK);
  }
  void TearDown() override {
    for (const ebb_context each : contexts_) {
      ebb_memory memory{};
      memory.size = sizeof(memory);
      EXPECT_EQ(ebb_memory_read(each, 0, &memory), EBB_OK);
      EXPECT_EQ(memory.live, 0u) << "a tape kept something";
      EXPECT_EQ(memory.held, 0u);
      EXPECT_EQ(ebb_context_destroy(each), EBB_OK);
    }
    EXPECT_EQ(ebb_audit(), EBB_OK) << ebb_last_error();
    EXPECT_EQ(ebb_device_close(device_), EBB_OK) << ebb_last_error();
  }

  ebb_device device_ = 0;
  std::array<ebb_context, 2> contexts_{};
};

TEST_F(TapesModel, AnyOrderOfCalls) {
  const std::uint64_t worlds = test::from_environment("EBB_TAPES", 150);
  const std::uint64_t seed = test::seed_for("tapes", 900);
  std::array<Leaked, 1> leaked{};
  TapeWorld::Counts all;
  for (std::uint64_t i = 0; i < worlds && !HasFailure(); ++i) {
    TapeWorld world(seed + i, device_, contexts_, leaked, 0);
    for (int step = 0; step < kSteps && !HasFailure(); ++step) {
      world.step();
      EXPECT_EQ(ebb_audit(), EBB_OK) << ebb_last_error();
      if (HasFailure()) ADD_FAILURE() << "world " << seed + i << ", step " << step;
    }
    world.finish();
    all.operations += world.counts.operations;
    all.passed += world.counts.passed;
    all.gradients += world.counts.gradients;
    all.none += world.counts.none;
    all.second += world.counts.second;
    all.refused += world.counts.refused;
  }
  test::note(
      "tapes: {} operations, {} ways back, {} refused; {} gradients and {} none, {} of them known "
      "to another tape",
      all.operations, all.passed, all.refused, all.gradients, all.none, all.second);
  EXPECT_GT(all.gradients, worlds);
  EXPECT_GT(all.none, worlds / 4);
  EXPECT_GT(all.second, worlds / 4);
  EXPECT_GT(all.refused, worlds / 4);
}

TEST_F(TapesModel, OnSeveralThreads) {
  constexpr std::size_t kThreads = 4;
  const std::uint64_t worlds = test::from_environment("EBB_TAPES", 150) / 5 + 1;
  const std::uint64_t seed = test::seed_for("tapes on threads", 901);
  std::array<Leaked, kThreads> leaked{};
  std::vector<std::thread> threads;
  for (std::size_t self = 0; self < kThreads; ++self) {
    threads.emplace_back([&, self] {
      for (std::uint64_t i = 0; i < worlds && !HasFailure(); ++i) {
        TapeWorld world(seed + i * kThreads + self, device_, contexts_, leaked, self);
        for (int step = 0; step < kSteps && !HasFailure(); ++step) world.step();
        world.finish();
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

}  // namespace
}  // namespace ebb::model
