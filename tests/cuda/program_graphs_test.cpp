// Programs as graphs of a device, on the plug-in that only pretends: what a run gives is what the
// steps give, whatever becomes of the tensors between two runs.
#include <gtest/gtest.h>

#include <thread>

#include "backends/cuda/plugin_library.hpp"
#include "cuda/fake_plugin.hpp"
#include "ebb/ebb.hpp"
#include "ebb/ops/functions.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"

namespace ebb::test {
namespace {

using Floats = std::vector<float>;

class ProgramGraphs : public testing::Test {
 protected:
  fake::Installed installed_;
  std::optional<Session> session_{std::in_place, SessionOptions{.device = "cuda:4"}};

  // x + x + w + 1, and w + x.
  Program two_sums(ProgramOptions options = {}) {
    const Tensor x = tensor({1.0f, 2.0f}, {2}), w = tensor({10.0f, 20.0f}, {2});
    ProgramDraft draft(session_->context(), {{x.handle()}}, options);
    const Tensor sum = ops::add(ops::add(ops::add(x, x), w), tensor({1.0f}, {1}));
    const Tensor next = ops::add(w, x);
    return draft.finish({{sum.handle(), next.handle()}});
  }
  std::vector<Tensor> run(const Program& program, const Tensor& x, const Tensor& w,
                          const Tensor* one = nullptr) {
    std::vector<Handle> given{x.handle(), w.handle()};
    if (one != nullptr) given.push_back(one->handle());
    std::vector<ops::OpResult> results(program.outputs());
    program.run(session_->place(), given, results);
    std::vector<Tensor> made;
    for (const ops::OpResult& each : results) made.emplace_back(session_->context(), each.handle);
    return made;
  }
  std::uint64_t submitted() {
    return session_->device().heap()->submitted(session_->place().stream);
  }
};

Tensor pair_of(float first) { return tensor({first, first + 1}, {2}); }
Floats floats(const Tensor& tensor) { return tensor.to_vector<float>(); }

TEST_F(ProgramGraphs, OneLaunchForAllSteps) {
  const Program program = two_sums();
  const Tensor w = pair_of(10), one = tensor({1.0f}, {1});
  for (float i = 0; i < 10; ++i) {
    const std::vector<Tensor> made = run(program, pair_of(i), w, &one);
    EXPECT_EQ(floats(made[0]), (Floats{2 * i + 11, 2 * i + 14})) << i;
    EXPECT_EQ(floats(made[1]), (Floats{i + 10, i + 12})) << i;
  }
  EXPECT_EQ(program.graphs(), 1u);
  EXPECT_EQ(program.without_graphs(), "");
  const Tensor x = pair_of(3);
  const std::uint64_t before = submitted();
  const std::vector<Tensor> made = run(program, x, w, &one);
  EXPECT_EQ(submitted() - before, 2u);  // the input's copy, the graph
}

// Sums that do not follow one another, and an operand that is a part of another tensor.
TEST_F(ProgramGraphs, ElementwiseStepsAreOneLaunch) {
  const Tensor x = tensor({1.0f, 2.0f}, {1, 2}), w = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  const Tensor narrow = tensor({5.0f, 6.0f}, {1, 2});
  const auto both = [&](const Tensor& a, const Tensor& b) {
    const Tensor sum = ops::add(a, narrow), product = ops::batch_mat_mul(b, b);
    return std::vector<Tensor>{ops::add(ops::add(sum, a), ops::slice(product, {1, 0}, {1, 2})),
                               product};
  };
  for (const bool fuse : {true, false}) {
    ProgramOptions options{.captures = false};
    options.fuse = fuse;
    ProgramDraft draft(session_->context(), {{x.handle(), w.handle()}}, options);
    const std::vector<Tensor> made = both(x, w);
    const Program program = draft.finish({{made[0].handle(), made[1].handle()}});
    EXPECT_EQ(program.steps(), 5u);
    EXPECT_EQ(program.fused_steps(), fuse ? 4u : 5u);  // two sums, product and part, the third
    for (int i = 0; i < 5; ++i) {
      const std::vector<Tensor> again = run(program, x, w);
      EXPECT_EQ(floats(again[0]), floats(made[0]));
      EXPECT_EQ(floats(again[1]), floats(made[1]));
    }
  }
}

// What is there before a product is added by it; what comes later is not.
TEST_F(ProgramGraphs, ProductsTakeAnAddend) {
  const Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}),
               w = tensor({1.0f, 0.0f, 2.0f, 1.0f}, {2, 2});
  const auto sums = [&] {
    const Tensor product = ops::batch_mat_mul(x, w);
    return std::vector<Tensor>{ops::add(x, ops::batch_mat_mul(w, x)),
                               ops::add(product, ops::batch_mat_mul(w, w))};
  };
  for (const bool join : {true, false}) {
    ProgramOptions options{.captures = false};
    options.join = join;
    options.fuse = false;
    ProgramDraft draft(session_->context(), {{x.handle(), w.handle()}}, options);
    const std::vector<Tensor> made = sums();
    const Program program = draft.finish({{made[0].handle(), made[1].handle()}});
    EXPECT_EQ(program.fused_steps(), join ? 3u : 5u);
    for (int i = 0; i < 5; ++i) {
      const std::vector<Tensor> again = run(program, x, w);
      EXPECT_EQ(floats(again[0]), floats(made[0]));
      EXPECT_EQ(floats(again[1]), floats(made[1]));
    }
    EXPECT_EQ(program.graphs(), 1u);
  }
}

// As training does it: a result takes the place of a captured tensor, which ends.
TEST_F(ProgramGraphs, ResultsThatAreGivenToTheNextRun) {
  const Program program = two_sums();
  Tensor w = pair_of(0);
  const Tensor x = pair_of(1), one = tensor({1.0f}, {1});
  for (int i = 1; i <= 40; ++i) {
    w = std::move(run(program, x, w, &one)[1]);
    const float times = static_cast<float>(i);
    ASSERT_EQ(floats(w), (Floats{times, 1 + 2 * times})) << i;
  }
  EXPECT_GE(program.graphs(), 2u);
  EXPECT_LE(program.graphs(), 4u);
}

TEST_F(ProgramGraphs, ResultsThatAreKeptStayAsTheyAre) {
  const Program program = two_sums();
  const Tensor w = pair_of(10), one = tensor({1.0f}, {1});
  std::vector<Tensor> kept, views;
  for (float i = 0; i < 20; ++i) {
    std::vector<Tensor> made = run(program, pair_of(i), w, &one);
    views.push_back(ops::reshape(made[1], {2, 1}));  // outlives the tensor it views
    kept.push_back(std::move(made[0]));
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto x = static_cast<float>(i);
    EXPECT_EQ(floats(kept[i]), (Floats{2 * x + 11, 2 * x + 14})) << i;
    EXPECT_EQ(floats(views[i]), (Floats{x + 10, x + 12})) << i;
  }
  EXPECT_GE(program.graphs(), 1u);
  const std::uint64_t before = submitted();
  const Tensor x = pair_of(1);
  static_cast<void>(run(program, x, w, &one));
  EXPECT_EQ(submitted() - before, 5u);  // write of x, its copy, the graph, copies of both results
}

// Whoever holds memory by name may look at it at any time.
TEST_F(ProgramGraphs, HeldMemoryIsNotWritten) {
  const Program program = two_sums();
  const Tensor x = pair_of(1), w = pair_of(10), one = tensor({1.0f}, {1});
  for (int i = 0; i < 5; ++i) static_cast<void>(run(program, x, w, &one));
  std::vector<StorageRef> held;
  std::vector<Floats> seen;
  for (float i = 0; i < 8; ++i) {
    const std::vector<Tensor> made = run(program, pair_of(i), w, &one);
    seen.push_back(floats(made[1]));
    held.push_back(session_->context().hold(made[1].handle()));
  }
  static_cast<void>(floats(run(program, x, w, &one)[1]));
  for (std::size_t i = 0; i < held.size(); ++i) {
    const auto* now = reinterpret_cast<const float*>(held[i].data().data());
    EXPECT_EQ((Floats{now[0], now[1]}), seen[i]) << i;
  }
}

TEST_F(ProgramGraphs, CapturedTensorsThatAreOthersEachTime) {
  const Program program = two_sums();
  const Tensor x = pair_of(1), one = tensor({1.0f}, {1});
  std::vector<Tensor> all;
  for (float i = 0; i < 100; ++i) {
    all.push_back(pair_of(i));
    EXPECT_EQ(floats(run(program, x, all.back(), &one)[1]), (Floats{i + 1, i + 3}));
  }
  EXPECT_LE(program.graphs(), 8u);
}

TEST_F(ProgramGraphs, GivesEverythingBackWithTheProgram) {
  Device& device = session_->device();
  const Tensor w = pair_of(10), x = pair_of(1), one = tensor({1.0f}, {1});
  device.pool().wait_pending();
  const std::uint64_t before = device.in_use();
  std::vector<Tensor> last;
  {
    const Program program = two_sums();
    for (int i = 0; i < 10; ++i) last = run(program, x, w, &one);
    EXPECT_EQ(program.graphs(), 2u);  // one result is there while the next is made
  }
  EXPECT_EQ(floats(last[1]), (Floats{11, 13}));  // its block outlives the graph
  last.clear();
  device.pool().wait_pending();
  EXPECT_EQ(device.in_use(), before);
  Context::audit();
}

TEST_F(ProgramGraphs, LiveOnAfterTheirSession) {
  std::optional<Program> program;
  {
    program.emplace(two_sums());
    const Tensor w = pair_of(10), x = pair_of(1), one = tensor({1.0f}, {1});
    for (int i = 0; i < 6; ++i) static_cast<void>(run(*program, x, w, &one));
    EXPECT_EQ(program->graphs(), 1u);
  }
  session_.reset();
  program.reset();
  Context::audit();
}

TEST_F(ProgramGraphs, SwitchedOff) {
  const Program program = two_sums({.graphs = false});
  const Tensor w = pair_of(10), x = pair_of(1), one = tensor({1.0f}, {1});
  for (int i = 0; i < 6; ++i) EXPECT_EQ(floats(run(program, x, w, &one)[1]), (Floats{11, 13}));
  EXPECT_EQ(program.graphs(), 0u);
  EXPECT_EQ(program.without_graphs(), "switched off");
}

// A result that is columns of another tensor is no part of the graph's memory.
TEST_F(ProgramGraphs, StepsThatCannotBeCaptured) {
  const Tensor x = ops::fill({64, 64}, 2, DType::kFloat32);
  ProgramDraft draft(session_->context(), {{x.handle()}});
  const Tensor columns = ops::slice(ops::add(x, x), {0, 8}, {64, 32});
  const Program program = draft.finish({{columns.handle()}});
  std::vector<ops::OpResult> result(1);
  const Handle given = x.handle();
  for (int i = 0; i < 6; ++i) {
    program.run(session_->place(), {&given, 1}, result);
    const Tensor made(session_->context(), result[0].handle);
    EXPECT_EQ(floats(made), Floats(64 * 32, 4));
  }
  EXPECT_EQ(program.graphs(), 0u);
  EXPECT_NE(program.without_graphs().find("part of another tensor"), std::string::npos);
}

TEST_F(ProgramGraphs, ATapeHearsTheOperations) {
  const Program program = two_sums();
  const Tensor w = pair_of(10), one = tensor({1.0f}, {1});
  for (int i = 0; i < 6; ++i) static_cast<void>(run(program, pair_of(1), w, &one));
  const Tensor x = pair_of(5);
  ProgramDraft listener(session_->context(), {{x.handle()}});
  const std::vector<Tensor> made = run(program, x, w, &one);
  const Program heard = listener.finish({{made[0].handle()}});
  EXPECT_EQ(heard.steps(), 3u);
}

TEST_F(ProgramGraphs, OtherThreadsRunTheSteps) {
  const Program program = two_sums();
  const Tensor w = pair_of(10), one = tensor({1.0f}, {1});
  const ops::RunPlace place = session_->place();
  const auto work = [&] {
    for (int i = 0; i < 50; ++i) {
      const Tensor x(place.context, ops::copy_to(place, w.handle()).handle);
      const std::array<Handle, 3> given{x.handle(), w.handle(), one.handle()};
      std::vector<ops::OpResult> results(2);
      program.run(place, given, results);
      const Tensor sum(place.context, results[0].handle), next(place.context, results[1].handle);
      EXPECT_EQ(floats(sum), (Floats{31, 34}));
      EXPECT_EQ(floats(next), (Floats{20, 22}));
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
}

// Each fault point of a run in turn: an error or the right values, and the next run is right.
TEST_F(ProgramGraphs, FailAtEveryPointWithoutALeak) {
  Device& device = session_->device();
  device.pool().wait_pending();
  const std::uint64_t before = device.in_use();
  for (std::uint64_t n = 1;; ++n) {
    bool reached = false;
    {
      const Program program = two_sums();
      Tensor w = pair_of(0);
      const Tensor x = pair_of(1), one = tensor({1.0f}, {1});
      fake::fail_at(n, false);
      float done = 0;
      for (int i = 0; i < 12; ++i) {
        try {
          w = std::move(run(program, x, w, &one)[1]);
          ++done;
        } catch (const Error&) {  // as if it had not been called
        }
      }
      reached = fake::fault_points() >= n;
      fake::fail_at(0);
      EXPECT_EQ(floats(w), (Floats{done, 1 + 2 * done})) << "after fault " << n;
    }
    device.pool().wait_pending();
    EXPECT_EQ(device.in_use(), before) << "after fault " << n;
    Context::audit();
    if (!reached) break;
  }
}

}  // namespace
}  // namespace ebb::test
