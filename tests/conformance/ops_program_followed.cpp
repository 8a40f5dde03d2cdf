// Variables that nobody named to record(): each call goes by the values that they have then, as a call of the function
// would.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "conformance/program_case.hpp"
#include "support/expect_error.hpp"

namespace ebb::test {
namespace {

class FollowedVariables : public ProgramCase {
 protected:
  static Tensor number(double value) { return ops::fill({1}, value, DType::kFloat32); }
  static float first(const Tensor& tensor) { return tensor.to_vector<float>()[0]; }

  const Tensor one_ = number(1);
};

TEST_F(FollowedVariables, AreReadAsTheyAre) {
  Variable w(number(2)), b(number(5));
  const auto fast = record([&](const Tensor& x) { return x * w + b.value(); }, {&b});
  for (const float next : {2.0F, 3.0F, 4.0F}) {
    w.assign(number(next));
    EXPECT_EQ(first(fast(one_)), next + 5);
  }
  EXPECT_EQ(fast.info().recorded, 1u);
}

TEST_F(FollowedVariables, AreAssignedTo) {
  Variable read(number(1)), unread(number(0));
  const auto fast = record([&](const Tensor& x) {
    read.assign(read.value() * 2.0);
    unread.assign(x + 1.0);
    return read.value() + x;
  });
  for (const float x : {1.0F, 10.0F, 20.0F}) {
    const float before = first(read);
    EXPECT_EQ(first(fast(number(x))), 2 * before + x);
    EXPECT_EQ(first(read), 2 * before);
    EXPECT_EQ(first(unread), x + 1);
  }
  EXPECT_EQ(fast.info().replayed, 2u);
}

TEST_F(FollowedVariables, AreThoseOfEachRecording) {
  Variable narrow(number(2)), wide(number(3));
  const auto fast = record(
      [&](const Tensor& x) { return x * (x.shape().elements() == 1 ? narrow : wide).value(); });
  const Tensor two = ops::fill({2}, 1, DType::kFloat32);
  for (const float next : {4.0F, 5.0F, 6.0F}) {
    narrow.assign(number(next));
    wide.assign(number(next + 1));
    EXPECT_EQ(first(fast(one_)), next);
    EXPECT_EQ(first(fast(two)), next + 1);
  }
  EXPECT_EQ(fast.info().recorded, 2u);
}

TEST_F(FollowedVariables, OfARecordedFunctionInside) {
  Variable w(number(2));
  const auto inner = record(
      [&](const Tensor& x) {
        w.assign(w.value() + 1.0);
        return x * w;
      },
      {&w});
  const auto outer = record([&](const Tensor& x) { return inner(x) + inner(x); });
  for (int i = 0; i < 4; ++i) {
    const float before = first(w);
    EXPECT_EQ(first(outer(one_)), 2 * before + 3);
    EXPECT_EQ(first(w), before + 2);
  }
}

TEST_F(FollowedVariables, WhoseGradientsAreTaken) {
  Variable w(number(2)), v(number(3));
  const auto fast = record([&](const Tensor& x) {
    return value_and_grad([&] { return x * w * w * v; }, {&w})().gradients;
  });
  for (const float next : {2.0F, 3.0F, 4.0F}) {
    w.assign(number(next));
    v.assign(number(next + 1));
    EXPECT_EQ(first(fast(one_)[0]), 2 * next * (next + 1));
  }
}

TEST_F(FollowedVariables, HaveWhatOthersHaveToo) {
  Variable w(one_), v(one_);
  const auto fast = record([&](const Tensor& x) { return x * w * 2.0 + v.value(); });
  EXPECT_EQ(first(fast(one_)), 3);
  v.assign(number(5));
  EXPECT_EQ(first(fast(one_)), 7);
  w.assign(v.value());
  EXPECT_EQ(first(fast(one_)), 15);
  w = Variable(one_);
  EXPECT_EQ(first(fast(one_)), 7);
  EXPECT_EQ(fast.info().recorded, 1u);
}

TEST_F(FollowedVariables, MayMove) {
  std::vector<Variable> all;
  all.emplace_back(number(2));
  const auto fast = record([&](const Tensor& x) { return x * all[0]; });
  EXPECT_EQ(first(fast(one_)), 2);
  for (int i = 0; i < 9; ++i) all.emplace_back(number(0));
  all[0].assign(number(3));
  EXPECT_EQ(first(fast(one_)), 3);
  EXPECT_EQ(first(fast(one_)), 3);
  EXPECT_EQ(fast.info().recorded, 2u);  // somebody else may be where it was
}

// What has ended is not there any more in a call of the function, which has another one or none.
TEST_F(FollowedVariables, ThatEndAreRecordedAnew) {
  auto w = std::make_unique<Variable>(number(2));
  const auto fast = record([&](const Tensor& x) { return x * *w; });
  EXPECT_EQ(first(fast(one_)), 2);
  w = std::make_unique<Variable>(number(3));
  EXPECT_EQ(first(fast(one_)), 3);
  w->assign(number(4));
  EXPECT_EQ(first(fast(one_)), 4);
  EXPECT_EQ(fast.info().recorded, 2u);
  EXPECT_EQ(fast.info().programs, 1u);
}

TEST_F(FollowedVariables, ThatTheFunctionMakesForItself) {
  const auto fast = record([&](const Tensor& x) {
    Variable sum(one_), factor(number(2));
    sum.assign(sum.value() + x * factor);
    return sum.value();
  });
  for (const float x : {1.0F, 2.0F, 3.0F}) EXPECT_EQ(first(fast(number(x))), 1 + 2 * x);
  EXPECT_EQ(fast.info().replayed, 2u);
}

// A call that makes what later ones go on with is another one than they are.
TEST_F(FollowedVariables, ThatTheFunctionMakesAndKeeps) {
  std::optional<Variable> w;
  const auto fast = record([&](const Tensor& x) {
    if (!w) w.emplace(x * 1.0);
    w->assign(w->value() * 2.0);
    return w->value() + 0.0;
  });
  for (const float wanted : {2.0F, 4.0F, 8.0F, 16.0F}) EXPECT_EQ(first(fast(one_)), wanted);
  EXPECT_EQ(fast.info().recorded, 1u);
}

TEST_F(FollowedVariables, AreLeftAloneWhereTheFunctionThrows) {
  Variable w(number(2));
  bool throws = true;
  const auto fast = record([&](const Tensor& x) {
    Tensor y = x * w;
    if (throws) raise(ErrorKind::kInvalidArgument, "[test] no");
    return y;
  });
  EXPECT_ERROR(fast(one_), kInvalidArgument, "[test] no");
  w.assign(number(3));
  throws = false;
  EXPECT_EQ(first(fast(one_)), 3);
  w.assign(number(4));
  EXPECT_EQ(first(fast(one_)), 4);
}

TEST_F(FollowedVariables, MayNotBeLookedAt) {
  Variable w(number(2));
  const auto fast = record([&](const Tensor& x) { return x * double{first(w)}; });
  EXPECT_ERROR(fast(one_), kWrongState, "[record]", "looked at");
}

}  // namespace
}  // namespace ebb::test
