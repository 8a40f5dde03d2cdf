// Recorded functions whose variables, or arguments, are not what they were: what they give is what the functions give.
#include "conformance/program_case.hpp"
#include "ebb/program/record.hpp"

namespace ebb::test {
namespace {

using ChangedVariables = ProgramCase;

float number(const Tensor& x) { return x.item<float>(); }

Tensor slope(const Tensor& a, const Tensor& b) {
  Tape tape;
  tape.watch(a);
  const Tensor y = a * b;
  return tape.backward({{&y}}, {}, {{&a}})[0];
}

// The same tensor twice, within another recording: what is noted there would be of one argument.
TEST_F(ChangedVariables, ArgumentsThatAreOneInAnotherRecordingMayBeTwoLater) {
  const auto inner = record([](const Tensor& a, const Tensor& b) { return slope(a, b); });
  const auto outer = record([&](const Tensor& x) { return inner(x, x); });
  static_cast<void>(outer(scalar(3.F)));
  EXPECT_EQ(number(inner(scalar(1.F), scalar(10.F))), 10);
  const Tensor x = scalar(4.F);
  EXPECT_EQ(number(outer(x)), number(slope(x, x)));
}

TEST_F(ChangedVariables, NamedOnesThatShareMemoryUnderATapeMayBeApartLater) {
  Variable a(scalar(1.F));
  Variable b(a);
  const auto by_a =
      record([&](const Tensor& x) { return slope(a.value(), b.value() * x); }, {&a, &b});
  {
    Tape listening;
    listening.watch(scalar(1.F));
    static_cast<void>(by_a(scalar(1.F)));
  }
  a.assign(scalar(5.F));
  b.assign(scalar(10.F));
  EXPECT_EQ(number(by_a(scalar(1.F))), 10);
}

TEST_F(ChangedVariables, OnesWhoseTensorWasUsedBeforeGoOn) {
  Variable w(scalar(1.F)), other(scalar(1.F));
  const auto twice = [](Variable& v, const Tensor& before) {
    return [&v, &before](const Tensor& x) {
      const Tensor y = x * before;
      v.assign(v.value() * 2.0);
      return y;
    };
  };
  const auto fast = record(twice(w, w.value()));
  const auto plain = twice(other, other.value());
  for (int i = 0; i < 4; ++i) {
    const Tensor x = scalar(2.F);
    EXPECT_EQ(number(fast(x)), number(plain(x)));
    EXPECT_EQ(number(w.value()), number(other.value()));
  }
  EXPECT_EQ(number(w.value()), 16);
}

TEST_F(ChangedVariables, OnesThatGrowAreUsedAsTheyAre) {
  Variable kept(numbers({1}, 1)), same(kept);
  const auto grow = [](Variable& v) {
    return [&v](const Tensor& x) {
      v = Variable(ops::concat({v.value(), ops::reshape(x, {1})}));
      return ops::sum(v, {0});
    };
  };
  const auto fast = record(grow(kept));
  const auto plain = grow(same);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(number(fast(scalar(2.F))), number(plain(scalar(2.F))));
    EXPECT_EQ(kept.value().shape(), same.value().shape());
  }
}

TEST_F(ChangedVariables, OnesOfAnotherShapeAreRecordedAnew) {
  Variable w(numbers({2}, 1));
  const auto total = record([&](const Tensor& x) { return ops::sum(w * x, {0}); });
  for (const std::int64_t size : {2, 2, 3, 3, 2, 2}) {
    if (w.value().shape() != Shape({size})) w = Variable(numbers({size}, 5));
    EXPECT_EQ(number(total(scalar(2.F))), number(ops::sum(w * scalar(2.F), {0})));
  }
  EXPECT_EQ(total.info().replayed, 3u);
}

TEST_F(ChangedVariables, WhoIsWhereOneWasBeforeItMoved) {
  Variable w(scalar(1.F));
  const auto times = record([&](const Tensor& x) { return x * w; });
  static_cast<void>(times(scalar(2.F)));
  const Variable best = std::move(w);
  w = Variable(scalar(5.F));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(number(times(scalar(2.F))), 10);
  EXPECT_EQ(times.info().replayed, 2u);

  std::vector<Variable> all;
  all.reserve(4);
  for (const float value : {1.F, 2.F}) all.emplace_back(scalar(value));
  const auto second = record([&](const Tensor& x) { return x * all[1]; });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(number(second(scalar(1.F))), number(all[1].value()));
    if (i == 1) all.insert(all.begin(), Variable(scalar(7.F)));
  }
}

TEST_F(ChangedVariables, ThoseOfAnotherContextAreAssignedInEachCall) {
  Session elsewhere;
  Variable count(scalar(0.F));
  Session here(session_.place());
  const auto counts = record([&](const Tensor& x) {
    const Session there(elsewhere.place());
    count.assign(count.value() + 1.0);
    return x;
  });
  for (int i = 0; i < 4; ++i) static_cast<void>(counts(scalar(1.F)));
  EXPECT_EQ(counts.info().replayed, 0u);
  const Session there(elsewhere.place());
  EXPECT_EQ(number(count.value()), 4);
}

TEST_F(ChangedVariables, AFunctionMayReplaceItself) {
  std::function<Tensor(const Tensor&)> f;
  f = record([&f](const Tensor& x) {
    f = record([](const Tensor& y) { return y * 3.0; });
    return x * 2.0;
  });
  EXPECT_EQ(number(f(scalar(1.F))), 2);
  EXPECT_EQ(number(f(scalar(1.F))), 3);
}

}  // namespace
}  // namespace ebb::test
