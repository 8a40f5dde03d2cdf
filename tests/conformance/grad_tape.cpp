// The tape itself: what it knows, what it keeps, what it refuses.
#include <gtest/gtest.h>

#include <thread>

#include "ebb/grad/grad.hpp"
#include "ebb/ops/operators.hpp"
#include "support/audited.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

class Tapes : public testing::Test {
 protected:
  static Tensor vector(std::initializer_list<float> values) {
    return tensor(values, Shape{static_cast<std::int64_t>(values.size())});
  }
  static std::vector<float> read(const Tensor& tensor) { return tensor.to_vector<float>(); }
  static Tensor total(const Tensor& x) { return ops::sum(x, {0}); }
  std::uint64_t live() { return session_.context().memory().books.live; }
  std::uint64_t live_bytes() { return session_.context().memory().books.storages.bytes; }
  // On a device that works on its own, for which memory may be reused later.
  bool is_queued() { return session_.device().link() != nullptr; }
  const void* place_of(const Tensor& tensor) {
    return session_.context().hold(tensor.handle()).data().data();
  }

  TestSession session_;
  const Tensor x_ = vector({1, 2, 3});
};

using Floats = std::vector<float>;

TEST_F(Tapes, GiveTheGradientOfWhatIsWatched) {
  Tape tape;
  tape.watch(x_);
  const Tensor y = total(x_ * x_);
  EXPECT_EQ(tape.noted(), 2u);
  const std::vector<Tensor> gradients = tape.backward({y}, {}, {x_});
  EXPECT_EQ(read(gradients[0]), (Floats{2, 4, 6}));
}

TEST_F(Tapes, NoteNothingThatIsNotWatched) {
  Tape tape;
  const Tensor y = total(x_ * x_);
  EXPECT_EQ(tape.noted(), 0u);
  tape.watch(x_);
  EXPECT_THROW(tape.backward({y}, {}, {y}), Error) << "y was made before";
  const std::vector<Tensor> gradients = tape.backward({y}, {}, {x_});
  EXPECT_FALSE(gradients[0]) << "y does not depend on what was watched later";
}

TEST_F(Tapes, WeighOutputsBySeeds) {
  Tape tape;
  tape.watch(x_);
  const Tensor y = x_ * 2.0, z = x_ * x_;
  const auto gradients = tape.backward({y, z}, {vector({1, 0, 1}), vector({0, 1, 1})}, {x_});
  EXPECT_EQ(read(gradients[0]), (Floats{2, 4, 8}));
}

TEST_F(Tapes, GiveTheGradientByAResultOnTheWay) {
  Tape tape;
  tape.watch(x_);
  const Tensor y = x_ * 2.0;
  const Tensor z = total(y * y);
  const auto gradients = tape.backward({z}, {}, {y, x_, y});
  EXPECT_EQ(read(gradients[0]), (Floats{4, 8, 12}));
  EXPECT_EQ(read(gradients[1]), (Floats{8, 16, 24}));
  EXPECT_EQ(read(gradients[2]), (Floats{4, 8, 12}));
}

TEST_F(Tapes, KnowCopies) {
  Tape tape;
  tape.watch(x_);
  Tensor y = x_ * x_;
  std::vector<Tensor> states{y};  // a copy, which the original does not outlive
  y = x_ * 0.0;
  const Tensor z = total(states[0] * states[0]);
  const auto gradients = tape.backward({z}, {}, {Tensor(x_)});
  EXPECT_EQ(read(gradients[0]), (Floats{4, 32, 108}));
}

TEST_F(Tapes, KnowCopiesOfViewsThatBecameDense) {
  const Tensor matrix = tensor({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}, {2, 3});
  Tape tape;
  tape.watch(matrix);
  const Tensor turned = ops::transpose(matrix, {1, 0});
  const Tensor before = turned;
  const Tensor once = ops::cumsum(turned);  // takes dense operands only: `turned` is, from now on
  const Tensor after = turned;
  const Tensor sum = ops::sum(before * after + once * 0.0, {0, 1});
  const auto gradients = tape.backward({sum}, {}, {matrix});
  EXPECT_EQ(read(gradients[0]), (Floats{2, 4, 6, 8, 10, 12}));
}

TEST_F(Tapes, KnowCopiesThatAComparisonMadeDense) {
  const Tensor turned = ops::transpose(tensor({1.0F, 2.0F, 3.0F, 4.0F}, {2, 2}), {1, 0});
  Tape tape;
  tape.watch(turned);
  const Tensor copy = turned;
  for (int i = 0; i < 3; ++i) static_cast<void>(ops::greater(copy, copy));  // is not noted
  const bool dense = session_.context().describe(copy.handle()).dense;
  if (is_queued() && !dense) GTEST_SKIP() << "of the CPU";
  ASSERT_TRUE(dense);
  const Tensor sum = ops::sum(copy * Tensor(copy), {0, 1});
  EXPECT_EQ(read(tape.backward({sum}, {}, {turned})[0]), (Floats{2, 6, 4, 8}));
}

// A result ends, and a constant of the same shape gets its memory.
TEST_F(Tapes, TakeNoTensorForAnotherThatHadItsMemory) {
  Tape tape;
  tape.watch(x_);
  const void* place = nullptr;
  {
    const Tensor y = x_ + 1.0;
    place = place_of(y);
  }
  const Tensor constant = vector({5, 5, 5});
  if (is_queued() && place_of(constant) != place) GTEST_SKIP() << "memory is reused later";
  ASSERT_EQ(place_of(constant), place) << "memory is reused";
  const Tensor z = total(constant * x_);
  EXPECT_EQ(read(tape.backward({z}, {}, {x_})[0]), (Floats{5, 5, 5}));
}

// The same, where an operation copies a strided constant to that memory.
TEST_F(Tapes, TakeNoConstantForAnotherWhenItIsMadeDense) {
  const Tensor turned =
      ops::transpose(tensor({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}, {2, 3}), {1, 0});
  const Tensor given = tensor({1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F}, {3, 2});
  Tape tape;
  tape.watch(given);
  const void* place = nullptr;
  {
    const Tensor y = given + 1.0;
    place = place_of(y);
  }
  const Tensor summed = ops::cumsum(turned);
  if (is_queued() && place_of(turned) != place) GTEST_SKIP() << "memory is reused later";
  ASSERT_EQ(place_of(turned), place) << "memory is reused";
  const Tensor z = ops::sum(Tensor(turned) * given, {0, 1});
  EXPECT_EQ(read(tape.backward({z}, {}, {given})[0]), (Floats{1, 4, 2, 5, 3, 6}));
}

TEST_F(Tapes, KeepOnlyWhatGradientsNeed) {
  Tape tape;
  tape.watch(x_);
  const std::uint64_t before = live_bytes();
  Tensor y = x_;
  for (int i = 0; i < 20; ++i) y = y + 1.0;  // none of them is kept
  EXPECT_EQ(tape.kept(), 0u);
  EXPECT_LE(live_bytes(), before + 3 * before);  // as many as x, which is all there was
  y = ops::exp(y);
  EXPECT_EQ(tape.kept(), 1u);
}

TEST_F(Tapes, ReleaseWhatTheyKeptAsTheyPass) {
  constexpr std::uint64_t kEach = 4 << 16;
  const Tensor big = ops::fill({1 << 16}, 0.5, DType::kFloat32);
  Tape tape;
  tape.watch(big);
  Tensor y = big;
  for (int i = 0; i < 10; ++i) y = ops::tanh(y);
  const std::uint64_t forward = live_bytes();
  EXPECT_GE(forward, 11 * kEach);
  const auto gradients = tape.backward({ops::sum(y, {0})}, {}, {big});
  EXPECT_EQ(tape.kept(), 0u);
  EXPECT_LE(session_.context().memory().books.peak_bytes, forward + 5 * kEach)
      << "what is kept must go as gradients come";
}

TEST_F(Tapes, LeaveNothingBehind) {
  const std::uint64_t before = live();
  {
    Tape tape;
    tape.watch(x_);
    static_cast<void>(ops::exp(ops::sin(x_)));
    EXPECT_GT(live(), before);
  }
  EXPECT_EQ(live(), before);
  Context::audit();
}

TEST_F(Tapes, OutliveTheScopesOfWhatTheyKeep) {
  Tape tape;
  tape.watch(x_);
  Tensor z;
  {
    Scope scope;
    const Tensor y = ops::exp(x_ * 0.0);
    z = scope.keep(total(y * y));
  }
  EXPECT_EQ(read(tape.backward({z}, {}, {x_})[0]), (Floats{0, 0, 0}));
}

TEST_F(Tapes, MayBeNested) {
  const auto cube = [](const Tensor& x) { return total(x * x * x); };
  const auto slope = grad(cube);
  EXPECT_EQ(read(slope(x_)), (Floats{3, 12, 27}));
  const auto bend = grad([&](const Tensor& x) { return total(slope(x)); });
  EXPECT_EQ(read(bend(x_)), (Floats{6, 12, 18}));
  const auto third = grad([&](const Tensor& x) { return total(bend(x)); });
  EXPECT_EQ(read(third(x_)), (Floats{6, 6, 6}));
}

TEST_F(Tapes, GiveValueAndGradients) {
  const Tensor y = vector({4, 5, 6});
  const auto [value, gradients] =
      value_and_grad([](const Tensor& a, const Tensor& b) { return total(a * b); })(x_, y);
  EXPECT_EQ(value.item<float>(), 32);
  EXPECT_EQ(read(gradients[0]), (Floats{4, 5, 6}));
  EXPECT_EQ(read(gradients[1]), (Floats{1, 2, 3}));
  const Tensor none = grad([&](const Tensor&) { return total(y); })(x_);
  EXPECT_EQ(read(none), (Floats{0, 0, 0}));
}

TEST_F(Tapes, GiveGradientsOfVariables) {
  Variable w(vector({1, 1, 1}), "w");
  for (int i = 0; i < 50; ++i) {
    const auto [loss, gradients] = value_and_grad(
        [&](const Tensor& x) { return total(ops::squared_difference(w, x)); }, {&w})(x_);
    w.assign(w.value() - gradients[0] * 0.25);
  }
  EXPECT_NEAR(read(w)[2], 3, 1e-6);
  EXPECT_THROW(w.assign(vector({1})), Error);
}

TEST_F(Tapes, VariablesOutliveScopes) {
  Variable w(vector({1, 2}), "w");
  {
    const Scope scope;
    w.assign(w.value() * 3.0);
  }
  EXPECT_EQ(read(w), (Floats{3, 6}));
}

// ---- what they refuse

template <typename Body>
std::string refusal(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST_F(Tapes, NameTheOperationWithoutAGradient) {
  Tape tape;
  tape.watch(x_);
  const Tensor y = ops::unique(x_)[0];
  EXPECT_EQ(refusal([&] { tape.backward({y}, {}, {x_}); }),
            "[Unique] has no gradient: which of several equal elements it is has no answer");
  EXPECT_EQ(tape.kept(), 0u);
  EXPECT_EQ(refusal([&] { tape.backward({y}, {}, {x_}); }),
            "[backward] the tape has been passed already");
}

TEST_F(Tapes, GiveNoneThroughSteps) {
  Tape tape;
  tape.watch(x_);
  const Tensor y = ops::floor(x_);
  EXPECT_FALSE(tape.backward({y}, {}, {x_})[0]);
}

TEST_F(Tapes, RefuseWhatCannotBe) {
  Tape tape;
  EXPECT_EQ(refusal([&] { tape.watch(ops::cast(x_, DType::kInt32)); }),
            "[watch] the tensor is int32, a floating dtype is needed");
  EXPECT_EQ(refusal([&] { tape.watch(Tensor()); }), "[watch] no tensor was given, one is needed");
  tape.watch(x_);
  const Tensor y = x_ * 2.0, other = vector({1, 2, 3});
  EXPECT_EQ(refusal([&] { tape.backward({y}, {}, {other}); }),
            "[backward] wanted tensor 0 is neither watched nor a result that depends on what is");
  EXPECT_EQ(refusal([&] {
              tape.backward({y}, {other, other}, {x_});
            }),
            "[backward] 2 seeds were given, 1 or none are allowed");
  EXPECT_EQ(refusal([&] { tape.backward({y}, {vector({1})}, {x_}); }),
            "[backward] seed 0 is float32 [1], its output is float32 [3]");
  std::thread([&] {
    const TestSession elsewhere;
    EXPECT_EQ(refusal([&] { tape.backward({y}, {}, {x_}); }),
              "[backward] the tape is another thread's");
    EXPECT_EQ(refusal([&] { tape.watch(x_); }), "[watch] the tape is another thread's");
  }).join();
  {
    const TestSession inner;
    EXPECT_EQ(refusal([&] { tape.backward({y}, {}, {x_}); }),
              "[backward] the tape is of another context than the session");
  }
  EXPECT_EQ(read(tape.backward({y}, {}, {x_})[0]), (Floats{2, 2, 2})) << "none of it hurt the tape";
}

TEST_F(Tapes, ForgetACallThatFailed) {
  Tape tape;
  tape.watch(x_);
  EXPECT_THROW(x_ * vector({1, 2}), Error);
  EXPECT_EQ(tape.noted(), 0u);
  const Tensor y = total(x_ * x_);
  EXPECT_EQ(read(tape.backward({y}, {}, {x_})[0]), (Floats{2, 4, 6}));
}

TEST_F(Tapes, HearTheirOwnThreadOnly) {
  Tape tape;
  tape.watch(x_);
  std::thread([&] {
    const TestSession elsewhere;
    static_cast<void>(ops::exp(vector({1})));
  }).join();
  EXPECT_EQ(tape.noted(), 0u);
}

// A list of what a thread's operations are told to cannot be changed by another. The message says what to do.
TEST_F(Tapes, EndOnTheirThread) {
  if (is_queued()) GTEST_SKIP() << "a GPU does not go along with a fork";
  const auto elsewhere = [] {
    const TestSession session;
    auto tape = std::make_unique<Tape>();
    std::thread([&] { tape.reset(); }).join();
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(elsewhere(), "ends on the thread that made it");
}

TEST_F(Tapes, StopInAnyOrder) {
  auto outer = std::make_unique<Tape>();
  auto inner = std::make_unique<Tape>();
  outer->watch(x_);
  inner->watch(x_);
  outer.reset();
  const Tensor y = x_ * x_;
  EXPECT_EQ(inner->noted(), 1u);
  inner->stop();
  static_cast<void>(x_ * x_);
  EXPECT_EQ(inner->noted(), 1u);
  EXPECT_EQ(read(inner->backward({y}, {}, {x_})[0]), (Floats{2, 4, 6}));
}

}  // namespace
}  // namespace ebb::test
