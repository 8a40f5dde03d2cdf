// Programs whose loops and products are shared with helping threads: the same bits in each run, with helpers
// or without, and the numbers of the operations one by one.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "backends/cpu/shift.hpp"
#include "backends/cpu/team.hpp"
#include "conformance/program_case.hpp"
#include "ebb.h"
#include "ops/recorder.hpp"

namespace ebb::test {
namespace {

class SharedPrograms : public ProgramCase {
 protected:
  using Function = std::function<Tensors(const Tensors&)>;
  // As often as it takes for helpers to be called, and some more.
  static constexpr int kRuns = 24;

  void expect_steady(const Tensors& inputs, const Function& function) {
    const Program program = recorded(inputs, function);
    const Tensors first = run(program, inputs);
    for (int i = 0; i < kRuns; ++i) {
      expect_same(run(program, inputs), first);
      if (HasFatalFailure()) return;
    }
    compare(first, function(inputs), [](float ours, float theirs) {
      ASSERT_NEAR(ours, theirs, 1e-4 * (1 + std::abs(theirs)));
    });
    const Program alone = recorded(inputs, function, {.share = false});
    compare(first, run(alone, inputs), [](float ours, float theirs) {
      ASSERT_NEAR(ours, theirs, 1e-4 * (1 + std::abs(theirs)));
    });
  }
};

Tensor times(const Tensor& a, const Tensor& b, bool turned = false) {
  return ops::batch_mat_mul(a, b, {.transpose_b = turned});
}

TEST_F(SharedPrograms, ProductsAreSteady) {
  // By blocks and by oneDNN, rows and columns that no part divides.
  expect_steady({numbers({32, 784}, 1), numbers({784, 128}, 2), numbers({128, 96}, 3),
                 numbers({33, 200}, 4), numbers({200, 77}, 5)},
                [](const Tensors& x) {
                  const Tensor h = ops::relu(times(x[0], x[1]));
                  return Tensors{h, times(h, x[2]), times(x[3], x[4]),
                                 ops::batch_mat_mul(x[0], h, {.transpose_a = true})};
                });
}

// Columns that are no whole vectors, or more than one thread's. Whether there is a crew depends on the machine.
TEST_F(SharedPrograms, RowsTimesMatricesAreSteady) {
  for (const std::int64_t units : {128, 200, 331}) {
    SCOPED_TRACE(units);
    expect_steady({numbers({1, units}, 1), numbers({units, units}, 2), numbers({units}, 3)},
                  [](const Tensors& x) {
                    Tensor h = x[0];
                    for (int layer = 0; layer < 120; ++layer) {
                      h = ops::relu(times(h, x[1]) * scalar(0.1F) + x[2]);
                    }
                    return Tensors{h, ops::tanh(times(h, x[1]) + x[2]), times(h, x[1])};
                  });
  }
}

TEST_F(SharedPrograms, BatchesOfProductsAreSteady) {
  for (const std::int64_t count : {1, 7, 8, 12}) {
    SCOPED_TRACE(count);
    expect_steady({numbers({count, 128, 32}, 1), numbers({count, 128, 32}, 2)},
                  [](const Tensors& x) {
                    const Tensor scores = ops::softmax(times(x[0], x[1], true) * scalar(0.2F));
                    return Tensors{scores, times(scores, x[1])};
                  });
  }
}

TEST_F(SharedPrograms, BatchesOfSeveralAxesAreSteady) {
  expect_steady(
      {numbers({2, 4, 64, 40}, 1), numbers({2, 4, 40, 72}, 2), numbers({1, 4, 40, 72}, 3)},
      [](const Tensors& x) {
        return Tensors{times(x[0], x[1]), times(x[0], x[2])};  // the second is repeated
      });
}

TEST_F(SharedPrograms, LoopsAreSteady) {
  expect_steady({numbers({300, 257}, 1), numbers({257}, 2)}, [](const Tensors& x) {
    const Tensor y = ops::tanh(x[0] * x[1] + ops::exp(x[0]));
    return Tensors{y,
                   ops::sum(y, {0}),
                   ops::sum(y, {1}),
                   ops::sum(y, {0, 1}),
                   ops::softmax(y),
                   ops::transpose(y, {1, 0}),
                   ops::cumsum(y)};
  });
}

TEST_F(SharedPrograms, UpdatesAreSteady) {
  expect_steady(
      {scalar(0.9F), scalar(0.999F), numbers({333, 301}, 1), ops::abs(numbers({333, 301}, 2)),
       ops::abs(numbers({333, 301}, 3)), numbers({333, 301}, 4)},
      [](const Tensors& x) {
        return ops::adam_update(x[0], x[1], Tensors(x.begin() + 2, x.end()));
      });
}

TEST_F(SharedPrograms, ConvolutionsAreSteady) {
  expect_steady({numbers({2, 28, 28, 16}, 1), numbers({3, 3, 16, 32}, 2), numbers({3, 3, 32, 1}, 3),
                 numbers({1, 1, 32, 64}, 4)},
                [](const Tensors& x) {
                  const Tensor a = ops::relu(ops::conv2d(x[0], x[1], {.pads = {1, 1, 1, 1}}));
                  const Tensor b = ops::depthwise_conv2d_native(
                      a, x[2], {.strides = {2, 2}, .pads = {1, 1, 1, 1}});
                  return Tensors{a, b, ops::conv2d(b, x[3])};
                });
}

// One has the crew, the others go on without it: the same bits.
TEST_F(SharedPrograms, RunOnManyThreads) {
  if (is_queued()) GTEST_SKIP() << "shared on the CPU";
  const Tensors inputs{numbers({32, 784}, 1), numbers({784, 128}, 2), numbers({8, 64, 64}, 3)};
  const Program program = recorded(inputs, [](const Tensors& x) {
    return Tensors{ops::tanh(times(x[0], x[1])), times(x[2], x[2])};
  });
  const Tensors first = run(program, inputs);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kRuns; ++k) {
        const Tensors own = run(program, inputs);
        expect_same(own, first);
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

// ---- whether helpers are called

// Looks, at each operation of a run on this thread.
class Watch final : public ops::Recorder {
 public:
  Watch() { link(); }
  ~Watch() { unlink(); }
  int operations = 0, shared = 0, with_crew = 0;

 private:
  void began(const ops::OpCall&) override {
    ++operations;
    shared += cpu::Shift::is_on() ? 1 : 0;
    with_crew += cpu::Shift::has_crew() ? 1 : 0;
  }
  void ended(ops::OpCall&) override {}
  void failed() noexcept override {}
  void written(const StorageRef&) noexcept override {}
  void copied(Handle, Handle) override {}
};

class HelpedPrograms : public ProgramCase {
 protected:
  void SetUp() override {
    if (is_queued()) GTEST_SKIP() << "shared on the CPU";
    if (cpu::Team::size() < 2) GTEST_SKIP() << "one core";
  }
  // Some ms, on any machine.
  static Tensors long_work(const Tensors& x) {
    return {ops::exp(ops::tanh(x[0]) * ops::sin(x[0])), ops::sum(ops::erf(x[0]), {0, 1})};
  }
  const Tensors inputs_{numbers({1024, 1024}, 1)};
};

TEST_F(HelpedPrograms, CallTheCrewOnceTheyAreMeasured) {
  const Program program = recorded(inputs_, long_work);
  const auto run_watched = [&] {
    const Watch watch;
    run(program, inputs_);
    EXPECT_GT(watch.operations, 0);
    EXPECT_EQ(watch.shared, watch.operations);
    return watch.with_crew > 0;
  };
  for (std::uint32_t i = 0; i < cpu::Shift::kRunsAlone; ++i) EXPECT_FALSE(run_watched()) << i;
  for (std::uint32_t i = 0; i < cpu::Shift::kRunsShared; ++i) EXPECT_TRUE(run_watched()) << i;
}

TEST_F(HelpedPrograms, CallNobodyWhereSharingIsOff) {
  for (const ProgramOptions& options :
       {ProgramOptions{.share = false}, ProgramOptions{.join = false}}) {
    const Program program = recorded(inputs_, long_work, options);
    const Watch watch;
    for (std::uint32_t i = 0; i < cpu::Shift::kRunsAlone + cpu::Shift::kRunsShared; ++i) {
      run(program, inputs_);
    }
    EXPECT_GT(watch.operations, 0);
    EXPECT_EQ(watch.shared, 0);
  }
}

TEST_F(HelpedPrograms, AreToldByTheCAbiWhetherToShare) {
  const ebb_handle input = inputs_[0].handle();
  for (const std::uint32_t flags : {std::uint32_t{0}, std::uint32_t{EBB_PROGRAM_NO_SHARING}}) {
    ebb_program program = 0;
    ASSERT_EQ(ebb_program_begin(context_.id(), &input, 1, flags, &program), EBB_OK);
    const Tensors made = long_work(inputs_);
    const ebb_handle outputs[] = {made[0].handle(), made[1].handle()};
    ebb_program_info info{};
    info.size = sizeof info;
    ASSERT_EQ(ebb_program_end(program, outputs, 2, &info), EBB_OK);
    {
      const Watch watch;
      ebb_op_result results[2];
      ASSERT_EQ(ebb_program_run(program, session_.device().id(), &input, 1, results, 2), EBB_OK);
      for (const ebb_op_result& each : results) context_.dispose(each.handle);
      EXPECT_GT(watch.operations, 0);
      EXPECT_EQ(watch.shared, flags == 0 ? watch.operations : 0);
    }
    EXPECT_EQ(ebb_program_free(program), EBB_OK);
  }
}

}  // namespace
}  // namespace ebb::test
