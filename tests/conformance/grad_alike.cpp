// Gradients where several tensors have one value: arguments and variables are themselves, and what a function has besides is
// a constant. So it is in a recording of the same function, too.
#include <gtest/gtest.h>

#include "conformance/program_case.hpp"
#include "support/expect_error.hpp"

namespace ebb::test {
namespace {

class AlikeGradients : public ProgramCase {
 protected:
  static Tensor number(double value) { return ops::fill({1}, value, DType::kFloat32); }
  static float first(const Tensor& tensor) { return tensor.to_vector<float>()[0]; }
  static std::vector<float> firsts(const Tensors& tensors) {
    std::vector<float> read;
    for (const Tensor& each : tensors) read.push_back(first(each));
    return read;
  }
  // f, its recording's first call and a replay give the same.
  template <typename Function>
  void expect(const Function& f, const Tensor& x, const std::vector<float>& wanted,
              const std::vector<Variable*>& variables = {}) {
    EXPECT_EQ(firsts(f(x)), wanted) << "not recorded";
    auto fast = record(f, variables);
    EXPECT_EQ(firsts(fast(x)), wanted) << "being recorded";
    EXPECT_EQ(firsts(fast(x)), wanted) << "recorded";
  }

  const Tensor three_ = number(3);
};

using Floats = std::vector<float>;

TEST_F(AlikeGradients, OfVariablesOfOneValue) {
  Variable a(three_), b(three_);
  const auto f = [&](const Tensor& x) {
    return value_and_grad([&](const Tensor& y) { return a.value() * b.value() * b.value() * y; },
                          {&a, &b})(x)
        .gradients;
  };
  expect(f, number(1), {9, 18}, {&a, &b});
}

TEST_F(AlikeGradients, ByAVariableWhoseValueAnotherHas) {
  Variable online(number(1)), target(number(5));
  target.assign(online.value());
  const auto f = [&](const Tensor& x) {
    const auto loss = [&](const Tensor& y) {
      const Tensor difference = online.value() * y - target.value() * 2.0;
      return difference * difference;
    };
    return value_and_grad(loss, {&online})(x).gradients;
  };
  expect(f, three_, {6}, {&online, &target});
}

TEST_F(AlikeGradients, ByArgumentsThatAreOneTensor) {
  const auto f = [](const Tensor& x) {
    const auto gradients = grad([](const Tensor& a, const Tensor& b) { return a * b * b; })(x, x);
    return Tensors{gradients[0], gradients[1]};
  };
  expect(f, three_, {9, 18});
}

TEST_F(AlikeGradients, WhereTheFunctionHasTheArgumentAnyway) {
  const auto f = [this](const Tensor& x) {
    return Tensors{grad([this](const Tensor& y) { return y * three_; })(x)};
  };
  expect(f, three_, {3});
}

TEST_F(AlikeGradients, ByAVariableThatIsAnArgumentToo) {
  Variable w(three_);
  const auto of_both = value_and_grad([&](const Tensor& y) { return y * w.value(); }, {&w});
  const auto f = [&](const Tensor&) { return of_both(w).gradients; };
  expect(f, number(1), {3}, {&w});
  const auto with_a_number =
      value_and_grad([&](const Tensor& y, double factor) { return y * w.value() * factor; }, {&w});
  EXPECT_EQ(firsts(with_a_number(w, 2.0).gradients), (Floats{6}));
}

// By the value that a variable has when the function is called.
TEST_F(AlikeGradients, ByAVariableThatTheFunctionAssignsTo) {
  Variable w(three_);
  const auto squared_first = [&] {
    w.assign(w.value() * w.value());
    return w.value() * 2.0;
  };
  const auto replaced_after = [&] {
    Tensor made = w.value() * w.value();
    w.assign(number(7));
    return made;
  };
  const auto f = [&](const Tensor& x) {
    w.assign(x + 0.0);
    Tensors made = value_and_grad(squared_first, {&w})().gradients;
    w.assign(x + 0.0);
    made.push_back(value_and_grad(replaced_after, {&w})().gradients[0]);
    return made;
  };
  expect(f, three_, {12, 6}, {&w});
  EXPECT_EQ(first(w), 7);
}

TEST_F(AlikeGradients, OfARecordedFunction) {
  Variable w(three_);
  const auto fast = record([&](const Tensor& x) { return x * x * w.value(); }, {&w});
  const auto slope = grad(fast);
  const auto bend = grad([&](const Tensor& x) { return grad(fast)(x); });
  const auto by_variable = value_and_grad(fast, {&w});
  for (const float next : {3.0F, 4.0F, 5.0F}) {
    w.assign(number(next));
    EXPECT_EQ(first(slope(number(2))), 4 * next);
    EXPECT_EQ(first(bend(number(2))), 2 * next);
    EXPECT_EQ(first(by_variable(number(2)).gradients[0]), 4);
  }
  EXPECT_EQ(fast.info().recorded, 1u);
}

TEST_F(AlikeGradients, RefuseVariablesThatAreNone) {
  Variable w(three_);
  EXPECT_ERROR(value_and_grad([&] { return w.value(); }, {&w, nullptr}), kInvalidArgument,
               "[value_and_grad]", "variable 2 of 2 is null");
}

TEST_F(AlikeGradients, KnowCopiesThatTheFunctionMakes) {
  Variable w(three_);
  const auto f = [&](const Tensor& x) {
    const auto loss = [&](Tensor y) {
      const std::vector<Tensor> copies{w, w, y};
      return copies[0] * copies[1] * copies[2];
    };
    Tensors made = value_and_grad(loss, {&w})(x).gradients;
    made.push_back(grad(loss)(x));
    return made;
  };
  expect(f, number(2), {12, 9}, {&w});
}

// The gradient's own gradient: its argument is a copy, which the tape around it knows.
TEST_F(AlikeGradients, OfHigherOrder) {
  const auto cube = [](const Tensor& x) { return x * x * x; };
  const auto f = [&](const Tensor& x) {
    const auto slope = [&](const Tensor& y) { return grad(cube)(y); };
    const auto bend = [&](const Tensor& y) { return grad(slope)(y); };
    return Tensors{slope(x), bend(x), grad(bend)(x)};
  };
  expect(f, three_, {27, 18, 6});
}

}  // namespace
}  // namespace ebb::test
