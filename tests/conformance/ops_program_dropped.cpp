// Recorded programs: what is no step, and how many recordings a function keeps.
#include <gtest/gtest.h>

#include <limits>

#include "ebb/ebb.hpp"
#include "program_case.hpp"
#include "support/expect_error.hpp"

namespace ebb::test {
namespace {

using DroppedPrograms = ProgramCase;

TEST_F(DroppedPrograms, AViewOfAllOfATensorIsTheTensor) {
  const Tensors x{numbers({4, 6}, 1)};
  const auto f = [](const Tensors& in) {
    const Tensor all = ops::slice(in[0], {0, 0}, {4, 6});
    const Tensor again = ops::reshape(all * 2.0, {4, 6});
    return Tensors{ops::reshape(again, {4, 6}) + all};
  };
  const Program program = recorded(x, f), steps = recorded(x, f, {.drop = false});
  EXPECT_EQ(program.steps(), 2u);
  EXPECT_EQ(steps.steps(), 5u);
  const Tensors other{numbers({4, 6}, 2)};
  expect_same(run(program, other), f(other));
  expect_same(run(steps, other), f(other));
}

TEST_F(DroppedPrograms, OtherViewsAreSteps) {
  const Tensors x{numbers({4, 4}, 1)};
  const auto f = [](const Tensors& in) {
    return Tensors{ops::transpose(in[0], {1, 0}), ops::slice(in[0], {0, 0}, {4, 3}),
                   ops::slice(in[0], {1, 0}, {3, 4}), ops::reshape(in[0], {2, 8}),
                   ops::reverse(in[0], {0})};
  };
  const Program program = recorded(x, f);
  EXPECT_EQ(program.steps(), 5u);
  const Tensors other{numbers({4, 4}, 2)};
  expect_same(run(program, other), f(other));
}

// The view is over what it was given, so it is alive as long as that, and is not written over.
TEST_F(DroppedPrograms, AViewThatIsAResultIsOverItsOperand) {
  const Tensors x{numbers({3, 2}, 1)};
  const auto f = [](const Tensors& in) {
    const Tensor same = ops::reshape(in[0], {3, 2});
    return Tensors{same, same + 1.0, ops::reshape(same, {3, 2})};
  };
  const Program program = recorded(x, f);
  EXPECT_EQ(program.steps(), 1u);
  Tensors other{numbers({3, 2}, 2)};
  const Tensors expected = f(other), made = run(program, other);
  other.clear();
  expect_same(made, expected);
}

TEST_F(DroppedPrograms, ConstantsOfEqualAttributesAreOneAndOthersAreNot) {
  const Tensors x{numbers({3}, 1)};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto f = [nan](const Tensors& in) {
    Tensors made;
    for (const double each : {5.0, nan, 7.0, 0.0, -0.0, nan}) {
      made.push_back(in[0] / ops::fill({3}, each, DType::kFloat32));
    }
    return made;
  };
  const Program program = recorded(x, f);
  EXPECT_EQ(program.constants(), 5u);
  const Tensors other{numbers({3}, 2)};
  expect_same(run(program, other), f(other));
}

// An operation makes dense what it cannot take as it lies, and it stays so for the sum after it.
TEST_F(DroppedPrograms, WhatMadeAnOperandDenseStaysWhereBitsCount) {
  const auto f = [](const Tensors& in) {
    const Tensor t = ops::transpose(in[0], {1, 0});
    static_cast<void>(ops::relu(t));
    return Tensors{ops::sum(t, {1})};
  };
  const Program exact = recorded({numbers({7, 3}, 1)}, f, {.join = false});
  EXPECT_EQ(recorded({numbers({7, 3}, 1)}, f).steps(), 2u);
  for (int i = 0; i < 40; ++i) {
    const Tensors x{numbers({7, 3}, 2 + i)};
    expect_same(run(exact, x), f(x));
  }
}

TEST_F(DroppedPrograms, AStridedInputMayComeAsADenseOneWasRecorded) {
  const Tensors x{numbers({5, 3}, 1)};
  const auto f = [](const Tensors& in) {
    return Tensors{ops::reshape(in[0], {5, 3}) * 3.0, ops::reshape(in[0], {5, 3})};
  };
  const Program program = recorded(x, f);
  const Tensors strided{ops::transpose(numbers({3, 5}, 2), {1, 0})};
  expect_same(run(program, strided), f(strided));
}

TEST_F(DroppedPrograms, AVariableGetsAViewOfAnotherAsItsValue) {
  Variable a(numbers({4}, 1)), b(numbers({4}, 2));
  auto fast = record(
      [&](const Tensor& x) {
        b.assign(ops::reshape(a.value(), {4}));
        a.assign(a.value() + x);
        return b.value() * 1.0;
      },
      {&a, &b}, {.overwrite = true});
  const Tensor x = numbers({4}, 3);
  for (int i = 0; i < 4; ++i) {
    const std::vector<float> was = a.value().to_vector<float>();
    EXPECT_EQ(fast(x).to_vector<float>(), was);
    EXPECT_EQ(b.value().to_vector<float>(), was);
    EXPECT_NE(a.value().to_vector<float>(), was);
  }
}

TEST_F(DroppedPrograms, WhatNoResultNeedsIsRunWhereItIsNotDropped) {
  const Tensors x{numbers({4, 4}, 1)};
  const auto f = [](const Tensors& in) {
    static_cast<void>(ops::batch_mat_mul(ops::exp(in[0]), in[0]));
    return Tensors{ops::relu(ops::transpose(in[0], {1, 0}))};
  };
  const Program dropped = recorded(x, f), whole = recorded(x, f, {.drop = false});
  EXPECT_EQ(dropped.steps(), 2u);
  EXPECT_EQ(whole.steps(), 4u);
  EXPECT_EQ(whole.fused_steps(), 4u);
  expect_same(run(whole, x), f(x));
}

// Also where weights are kept: what comes to other shapes is refused, so it was run.
TEST_F(DroppedPrograms, WhatNoResultNeedsIsRunWhereWeightsAreKept) {
  const Tensors x{numbers({64, 64}, 1), tensor({1.0F, 2.0F, 2.0F}, {3}), numbers({64, 64}, 3)};
  const auto f = [](const Tensors& in) {
    static_cast<void>(ops::unique(in[1]));
    return Tensors{ops::batch_mat_mul(in[0], in[2])};
  };
  const ProgramOptions keeping{.variables = 1, .keep = true};
  ProgramOptions whole = keeping;
  whole.drop = false;
  const Program dropped = recorded(x, f, keeping), all = recorded(x, f, whole);
  for (int i = 0; i < 4; ++i) {
    expect_same(run(dropped, x), run(all, x));
    if (HasFatalFailure()) return;
  }
  const Tensors other{x[0], tensor({1.0F, 2.0F, 3.0F}, {3}), x[2]};
  EXPECT_NO_THROW(run(dropped, other));
  EXPECT_ERROR(run(all, other), kWrongState, "Unique");
}

TEST_F(DroppedPrograms, AFunctionKeepsSoManyRecordings) {
  int calls = 0;
  auto fast = record(
      [&](const Tensor& x) {
        ++calls;
        return x * 2.0;
      },
      {}, {.cache = 2});
  const auto call = [&](std::int64_t size) {
    const Tensor x = numbers({size}, 1);
    const std::vector<float> twice = (x * 2.0).to_vector<float>();
    EXPECT_EQ(fast(x).to_vector<float>(), twice);
  };
  for (const std::int64_t size : {1, 2, 1, 2, 1}) call(size);
  EXPECT_EQ(calls, 2);
  call(3);  // 2 was unused longest
  call(1);
  EXPECT_EQ(calls, 3);
  call(2);
  EXPECT_EQ(calls, 4);
}

TEST_F(DroppedPrograms, ShapesThatComeAndGoLeaveNoMoreThanTheCacheHas) {
  auto fast = record([constant = numbers({1}, 1)](const Tensor& x) {
    return x +
           ops::fill({1}, static_cast<double>(x.shape().elements()), DType::kFloat32) * constant;
  });
  const auto live = [&] { return context_.memory().books.live; };
  std::uint64_t full = 0;
  for (std::int64_t size = 1; size <= 64; ++size) {
    static_cast<void>(fast(numbers({size}, 1)));
    if (size == 16) full = live();
  }
  EXPECT_LE(live(), full);
}

}  // namespace
}  // namespace ebb::test
