// Programs whose loops and products are shared with helping threads: the same bits in each run, with helpers
// or without, and the numbers of the operations one by one.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "conformance/program_case.hpp"

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

// Long enough for a crew; columns that are no whole vectors, or more than one thread's.
TEST_F(SharedPrograms, RowsTimesMatricesAreSteady) {
  for (const std::int64_t units : {128, 200, 331}) {
    SCOPED_TRACE(units);
    expect_steady({numbers({1, units}, 1), numbers({units, units}, 2), numbers({units}, 3)},
                  [](const Tensors& x) {
                    Tensor h = x[0];
                    for (int layer = 0; layer < 30; ++layer) {
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

}  // namespace
}  // namespace ebb::test
