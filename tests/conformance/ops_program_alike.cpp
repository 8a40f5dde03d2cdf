// Recorded functions whose variables and inputs share memory when they are recorded: later they are different tensors.
#include <gtest/gtest.h>

#include "conformance/program_case.hpp"

namespace ebb::test {
namespace {

class RecordedPrograms : public ProgramCase {
 protected:
  static Tensor number(double value) { return ops::fill({1}, value, DType::kFloat32); }
  static float first(const Tensor& tensor) { return tensor.to_vector<float>()[0]; }

  const Tensor a_ = number(1);
  const Tensor one_ = number(1);
};

TEST_F(RecordedPrograms, TellVariablesOfOneValueApart) {
  Variable v(a_), w(a_);
  auto fast = record([&](const Tensor& x) { return v.value() * 2.0 + w.value() * x; }, {&v, &w});
  EXPECT_EQ(first(fast(one_)), 3);
  w.assign(number(10));
  EXPECT_EQ(first(fast(one_)), 12);
  v.assign(number(20));
  EXPECT_EQ(first(fast(one_)), 50);
  EXPECT_EQ(first(a_), 1);
}

// Another thread's operation may have it, which only reads it as this one does.
TEST_F(RecordedPrograms, LeaveAVariableThatIsInUseAlone) {
  Variable w(number(2)), v(number(3));
  const StorageRef in_use = context_.hold(w.value().handle());
  const Handle before = w.value().handle();
  const auto fast = record([&](const Tensor& x) { return w.value() * x + v; }, {&w, &v, &w});
  for (const float x : {1.0F, 2.0F}) EXPECT_EQ(first(fast(number(x))), 2 * x + 3);
  EXPECT_EQ(w.value().handle(), before);
}

TEST_F(RecordedPrograms, TellAVariableFromATensorThatIsHeld) {
  Variable v(a_);
  auto fast = record([&](const Tensor& x) { return v.value() * 2.0 + a_ * x; }, {&v});
  EXPECT_EQ(first(fast(one_)), 3);
  v.assign(number(10));
  EXPECT_EQ(first(fast(one_)), 21);
}

TEST_F(RecordedPrograms, TellAnInputFromAVariable) {
  Variable v(a_);
  auto fast = record([&](const Tensor& x) { return v.value() * 2.0 + x; }, {&v});
  EXPECT_EQ(first(fast(a_)), 3);
  EXPECT_EQ(first(fast(number(7))), 9);
  Variable w(number(1));
  auto of_value = record([&](const Tensor& x) { return w.value() * 2.0 + x; }, {&w});
  EXPECT_EQ(first(of_value(w)), 3);
  EXPECT_EQ(first(of_value(number(7))), 9);
}

TEST_F(RecordedPrograms, TellAnInputFromATensorThatIsHeld) {
  auto fast = record([&](const Tensor& x) { return x * 2.0 + a_; });
  EXPECT_EQ(first(fast(a_)), 3);
  EXPECT_EQ(first(fast(number(7))), 15);
}

TEST_F(RecordedPrograms, TellInputsApart) {
  auto fast = record([](const Tensor& x, const Tensor& y) { return x * 2.0 + y; });
  const Tensor b = number(5);
  EXPECT_EQ(first(fast(a_, a_)), 3);
  EXPECT_EQ(first(fast(a_, b)), 7);
  EXPECT_EQ(first(fast(b, a_)), 11);
  EXPECT_EQ(first(fast(b, b)), 15);
}

// Copies made inside are the tensor that they are of.
TEST_F(RecordedPrograms, FollowAValueThatIsAssignedToAnotherVariable) {
  Variable p(number(1)), q(number(2));
  auto fast = record(
      [&](const Tensor& x) {
        const Tensor before = p.value();
        p.assign(q.value());
        q.assign(before);
        return p.value() * x;
      },
      {&p, &q});
  EXPECT_EQ(first(fast(one_)), 2);
  for (const float next : {12.0F, 22.0F, 32.0F}) {
    const float was = first(p);
    q.assign(number(next));
    EXPECT_EQ(first(fast(one_)), next);
    EXPECT_EQ(first(p), next);
    EXPECT_EQ(first(q), was);
  }
}

// A tape goes by memory: what it is not to follow is in other memory.
TEST_F(RecordedPrograms, TakeGradientsOfOneOfThem) {
  Variable v(a_), w(a_);
  auto fast = record(
      [&](const Tensor& x) {
        const auto loss = [&](const Tensor& in) {
          return ops::sum(v.value() * w.value() * in, {0});
        };
        return value_and_grad(loss, {&v})(x).gradients[0];
      },
      {&v, &w});
  EXPECT_EQ(first(fast(one_)), 1);
  w.assign(number(10));
  EXPECT_EQ(first(fast(one_)), 10);
  auto of_inputs = record([](const Tensor& x, const Tensor& y) {
    return grad([&](const Tensor& in) { return ops::sum(in * y, {0}); })(x);
  });
  EXPECT_EQ(first(of_inputs(a_, a_)), 1);
  EXPECT_EQ(first(of_inputs(a_, number(5))), 5);
}

TEST_F(RecordedPrograms, AreWatchedFromOutsideWhileTheyAreRecorded) {
  Variable w(a_);
  auto fast =
      record([&](const Tensor& x) { return ops::sum(w.value() * w.value() * x, {0}); }, {&w});
  const auto slope = value_and_grad([&](const Tensor& x) { return fast(x); }, {&w});
  for (const float next : {1.0F, 3.0F, 5.0F}) {
    w.assign(number(next));
    EXPECT_EQ(first(slope(one_).gradients[0]), 2 * next);
  }
}

// As a target network has its weights from the one that learns.
TEST_F(RecordedPrograms, TrainBesideAModelOfTheSameWeights) {
  const auto losses = [&](bool record) {
    nn::Dense online(2, 1), target(2, 1);
    const Tensor kernel = numbers({2, 1}, 3);
    for (nn::Dense* each : {&online, &target}) each->weights()[0]->assign(kernel);
    if (!record) online.weights()[0]->assign(kernel + 0.0);  // apart from the start
    nn::Sgd sgd(online.weights(), {.learning_rate = 0.1});
    nn::TrainingStep step(online, sgd,
                          [&](const Tensor& x, const Tensor& y) {
                            const Tensor away = online(x) - target(x) * 0.5 - y;
                            return ops::mean(away * away, {0, 1});
                          },
                          {.record = record});
    const Tensor x = numbers({4, 2}, 5), y = numbers({4, 1}, 6);
    std::vector<float> all;
    for (int i = 0; i < 5; ++i) all.push_back(step(x, y).to_vector<float>()[0]);
    return all;
  };
  const std::vector<float> recorded = losses(true), plain = losses(false);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(recorded[i], plain[i], 1e-5) << i;
}

}  // namespace
}  // namespace ebb::test
