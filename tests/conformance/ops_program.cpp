// Recorded programs: a run gives what the function gives, holds no more than it must, and leaves
// everything as it was where it fails.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>

#include "ebb.h"
#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

class Programs : public testing::Test {
 protected:
  TestSession session_;
  Context& context_ = session_.context();

  static Tensor numbers(const std::vector<std::int64_t>& shape, double seed) {
    return ops::random_uniform(shape, {.low = -2, .high = 2, .seed = seed});
  }
  std::vector<Tensor> run(const Program& program, const std::vector<const Tensor*>& given) {
    std::vector<Handle> handles;
    for (const Tensor* each : given) handles.push_back(each->handle());
    std::vector<ops::OpResult> results(program.outputs());
    program.run(session_.place(), handles, results);
    std::vector<Tensor> made;
    for (const ops::OpResult& each : results) made.emplace_back(context_, each.handle);
    return made;
  }
  std::uint64_t live() { return context_.memory().books.live; }
};

std::vector<float> values(const Tensor& tensor) { return tensor.to_vector<float>(); }

TEST_F(Programs, GiveWhatTheFunctionGives) {
  const Tensor x = numbers({3, 4}, 1), w = numbers({4, 5}, 2), b = numbers({5}, 3);
  const auto f = [&](const Tensor& in) { return ops::relu(ops::batch_mat_mul(in, w) + b) * 0.5; };
  ProgramDraft draft(context_, {{x.handle()}});
  const Tensor first = f(x);
  const Program program = draft.finish({{first.handle()}});
  EXPECT_EQ(program.inputs(), 1u);
  ASSERT_EQ(program.captured().size(), 2u);
  EXPECT_EQ(program.captured()[0], w.handle());
  EXPECT_EQ(program.captured()[1], b.handle());
  EXPECT_EQ(program.steps(), 4u);
  const Tensor other = numbers({3, 4}, 7);
  const std::uint64_t before = live();
  EXPECT_EQ(values(run(program, {&x, &w, &b})[0]), values(first));
  EXPECT_EQ(values(run(program, {&other, &w, &b})[0]), values(f(other)));
  EXPECT_EQ(live(), before);
}

TEST_F(Programs, FoldWhatIsMadeOfConstants) {
  const Tensor x = numbers({4}, 1);
  for (const bool fold : {true, false}) {
    ProgramDraft draft(context_, {{x.handle()}}, {.fold = fold});
    const Tensor two = ops::fill({4}, 2, DType::kFloat32);
    const Tensor y = x * ops::sqrt(ops::exp(two) + 1.0);
    const Program program = draft.finish({{y.handle()}});
    EXPECT_EQ(program.constants() > 0, fold);
    EXPECT_EQ(program.steps() == 1, fold) << program.steps();
    EXPECT_EQ(values(run(program, {&x})[0]), values(y));
  }
}

TEST_F(Programs, DoNotFoldRandomNumbers) {
  ProgramDraft draft(context_, {});
  const Tensor y = ops::random_uniform({8}) + ops::random_normal({8});
  const Program program = draft.finish({{y.handle()}});
  EXPECT_EQ(program.steps(), 3u);
  EXPECT_NE(values(run(program, {})[0]), values(run(program, {})[0]));
}

TEST_F(Programs, DropWhatNoOutputNeeds) {
  const Tensor x = numbers({4}, 1), unused = numbers({4}, 2);
  ProgramDraft draft(context_, {{x.handle()}});
  const Tensor nothing = ops::exp(unused) + x;
  const Tensor y = x + 1.0;
  const Program program = draft.finish({{y.handle()}});
  EXPECT_EQ(program.steps(), 1u);
  EXPECT_TRUE(program.captured().empty());
  EXPECT_EQ(values(run(program, {&x})[0]), values(y));
}

TEST_F(Programs, EndTensorsAtTheirLastUse) {
  const Tensor x = numbers({1 << 16}, 1);
  ProgramDraft draft(context_, {{x.handle()}});
  Tensor y = x;
  for (int i = 0; i < 20; ++i) y = ops::tanh(y) + x;
  const Program program = draft.finish({{y.handle()}});
  session_.device().pool().flush_thread();
  const std::uint64_t before = session_.device().in_use();
  context_.memory();
  std::uint64_t peak = 0;
  // Twenty chained pairs need two tensors beside x at a time.
  for (int i = 0; i < 2; ++i) {
    const std::vector<Tensor> made = run(program, {&x});
    peak = std::max(peak, session_.device().in_use() - before);
    EXPECT_EQ(values(made[0]), values(y));
  }
  EXPECT_LE(peak, std::uint64_t{2} << 18);
  EXPECT_EQ(session_.device().in_use(), before);
}

TEST_F(Programs, ShareOutputsThatAreInputsOrComeTwice) {
  const Tensor x = numbers({2, 3}, 1), c = numbers({3}, 2);
  ProgramDraft draft(context_, {{x.handle()}});
  const Tensor y = ops::neg(x);
  const Program program = draft.finish({{y.handle(), x.handle(), y.handle(), c.handle()}});
  const std::uint64_t before = live();
  {
    const std::vector<Tensor> made = run(program, {&x, &c});
    EXPECT_EQ(live(), before + 4);
    EXPECT_EQ(values(made[0]), values(y));
    EXPECT_EQ(values(made[1]), values(x));
    EXPECT_EQ(values(made[2]), values(y));
    EXPECT_EQ(values(made[3]), values(c));
  }
  EXPECT_EQ(live(), before);
}

// Views, and what makes them dense, are steps like others.
TEST_F(Programs, FollowViews) {
  const auto f = [](const Tensor& x) {
    const Tensor turned = ops::transpose(x, {1, 0});
    const Tensor part = ops::slice(turned, {1, 0}, {2, 2});
    return ops::softmax(ops::reshape(part, {4})) + ops::reshape(turned, {-1}).shape().elements();
  };
  const Tensor x = numbers({3, 4}, 1), other = numbers({3, 4}, 2);
  ProgramDraft draft(context_, {{x.handle()}});
  const Tensor y = f(x);
  const Program program = draft.finish({{y.handle()}});
  EXPECT_EQ(values(run(program, {&other})[0]), values(f(other)));
  const Tensor wide = numbers({4, 3}, 3), turned = ops::transpose(wide, {1, 0});
  EXPECT_EQ(values(run(program, {&turned})[0]), values(f(turned)));
}

// Gradients are operations: the tape's own copies are known by their place.
TEST_F(Programs, HearTheWayBack) {
  const Tensor w = numbers({4, 2}, 2);
  const auto loss = [&](const Tensor& x) {
    return ops::sum(ops::tanh(ops::batch_mat_mul(x, w)), {0, 1});
  };
  const Tensor x = numbers({3, 4}, 1), other = numbers({3, 4}, 5);
  ProgramDraft draft(context_, {{x.handle()}});
  const Tensor slope = grad(loss)(x);
  const Program program = draft.finish({{slope.handle()}});
  ASSERT_EQ(program.captured().size(), 1u);
  EXPECT_EQ(values(run(program, {&other, &w})[0]), values(grad(loss)(other)));
}

TEST_F(Programs, RefuseOtherShapesAndDTypes) {
  const Tensor x = numbers({3}, 1), c = numbers({3}, 2);
  ProgramDraft draft(context_, {{x.handle()}});
  const Tensor y = x + c;
  const Program program = draft.finish({{y.handle()}});
  const auto error_of = [&](const std::vector<const Tensor*>& given) -> std::string {
    try {
      run(program, given);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const Tensor longer = numbers({4}, 1), whole = tensor({1, 2, 3}, {3}), none;
  EXPECT_EQ(error_of({&longer, &c}),
            "[program_run] input 0 is float32 [4], float32 [3] was recorded");
  EXPECT_EQ(error_of({&x, &whole}),
            "[program_run] captured tensor 0 is int32 [3], float32 [3] was recorded");
  EXPECT_EQ(error_of({&x}), "[program_run] 1 tensors were given, 2 are needed");
  EXPECT_EQ(error_of({&x, &none}), "[program_run] 0 names no tensor");
  std::array<ops::OpResult, 2> room;
  EXPECT_THROW(program.run(session_.place(), {{x.handle(), c.handle()}}, room), Error);
}

TEST_F(Programs, NoticeShapesThatDependOnValues) {
  const Tensor x = tensor({1.0f, 2.0f, 2.0f}, {3}), other = tensor({1.0f, 2.0f, 3.0f}, {3});
  ProgramDraft draft(context_, {{x.handle()}});
  const Tensor y = ops::unique(x)[0] + 1.0;
  const Program program = draft.finish({{y.handle()}});
  EXPECT_EQ(values(run(program, {&x})[0]), values(y));
  const std::uint64_t before = live();
  try {
    run(program, {&other});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kWrongState);
    EXPECT_STREQ(error.what(), "[program_run] a result of Unique is [3], [2] was recorded");
  }
  EXPECT_EQ(live(), before);
}

TEST_F(Programs, RecordFunctionsWithVariables) {
  Variable w(numbers({3}, 1)), m(numbers({3}, 2));
  Variable w2(w.value()), m2(m.value());
  const auto step = [](Variable& weight, Variable& moment) {
    return [&](const Tensor& x) {
      const auto loss = [&](const Tensor& in) { return ops::sum(in * weight * weight, {0}); };
      auto [value, gradients] = value_and_grad(loss, {&weight})(x);
      moment.assign(moment.value() * 0.9 + gradients[0]);
      weight.assign(weight.value() - moment.value() * 0.1);
      return value;
    };
  };
  auto recorded = record(step(w, m), {&w, &m});
  const auto plain = step(w2, m2);
  for (int i = 0; i < 6; ++i) {
    const Tensor x = numbers({3}, i + 10);
    EXPECT_EQ(values(recorded(x)), values(plain(x))) << i;
    EXPECT_EQ(values(w), values(w2)) << i;
    EXPECT_EQ(values(m), values(m2)) << i;
    if (i == 3) {
      w.assign(numbers({3}, 30));
      w2.assign(numbers({3}, 30));
    }
  }
}

TEST_F(Programs, KeepWhatARecordedFunctionUses) {
  auto recorded = [&] {
    const Tensor c = numbers({2}, 1);
    return record([c](const Tensor& x) { return std::vector<Tensor>{x * c, x + c}; });
  }();
  const Tensor c = numbers({2}, 1), x = numbers({2}, 4), wide = numbers({5, 2}, 4);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(values(recorded(x)[1]), values(x + c));
    EXPECT_EQ(values(recorded(wide)[0]), values(wide * c));
  }
}

TEST_F(Programs, SayWhetherARecordedFunctionReplays) {
  int calls = 0;
  const auto fn = [&](const Tensor& x) {
    ++calls;
    return ops::relu(ops::batch_mat_mul(x, x)) * 2.0;
  };
  const auto fast = record(fn, {}, {.cache = 2});
  const auto check = [](const RecordedInfo& info, std::uint64_t all, std::uint64_t replayed,
                        std::uint64_t recordings, std::size_t programs) {
    EXPECT_EQ(info.calls, all);
    EXPECT_EQ(info.replayed, replayed);
    EXPECT_EQ(info.recorded, recordings);
    EXPECT_EQ(info.programs, programs);
    EXPECT_EQ(info.operations, 3 * programs);
  };
  check(fast.info(), 0, 0, 0, 0);
  const Tensor two = numbers({2, 2}, 1), three = numbers({3, 3}, 1), four = numbers({4, 4}, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(values(fast(two)), values(fn(two)));
  check(fast.info(), 3, 2, 1, 1);
  for (const Tensor& each : {three, two, four, three}) static_cast<void>(fast(each));
  check(fast.info(), 7, 3, 4, 2);  // three went for four, and came again
  EXPECT_EQ(calls, 3 + 4);
  EXPECT_THROW(static_cast<void>(fast(Tensor())), Error);
  check(fast.info(), 8, 3, 4, 2);
}

// Kept and handed on as the function that it is made of.
TEST_F(Programs, RecordedFunctionsAreValues) {
  const Tensor x = numbers({3}, 1);
  auto fast = record([](const Tensor& a) { return a + 1.0; });
  const auto copy = fast;
  static_cast<void>(copy(x));
  EXPECT_EQ(values(fast(x)), values(x + 1.0));
  EXPECT_EQ(fast.info().replayed, 1u);
  EXPECT_EQ(copy.info().calls, 2u);
  const std::function<Tensor(const Tensor&)> erased = std::move(fast);
  EXPECT_EQ(values(erased(x)), values(x + 1.0));
  EXPECT_EQ(copy.info().replayed, 2u);
  fast = copy;
  EXPECT_EQ(fast.info().calls, 3u);
  const auto of_nothing = record([&] { return x * 2.0; });
  for (int i = 0; i < 2; ++i) EXPECT_EQ(values(of_nothing()), values(x * 2.0));
  EXPECT_EQ(of_nothing.info().replayed, 1u);
  // Its own state is kept as well.
  auto counting = record([times = 0](const Tensor& a) mutable { return a * double(++times); });
  EXPECT_EQ(values(counting(x)), values(x));
  EXPECT_EQ(values(counting(numbers({4}, 1))), values(numbers({4}, 1) * 2.0));
  EXPECT_EQ(values(counting(x)), values(x));
}

TEST_F(Programs, OfFunctionsOfAnyNumberOfArguments) {
  const Tensor one = numbers({3}, 1), other = numbers({3}, 2), row = numbers({2, 3}, 3);
  const auto sum = [](const auto&... each) { return ops::add_n({each...}); };
  for (const bool fewer_first : {true, false}) {
    const auto fast = record(sum);
    for (int i = 0; i < 4; ++i) {
      if ((i % 2 == 0) == fewer_first) {
        EXPECT_EQ(values(fast(one)), values(one));
      } else {
        EXPECT_EQ(values(fast(one, other)), values(one + other));
      }
    }
    EXPECT_EQ(values(fast(row)), values(row));
    EXPECT_EQ(fast.info().recorded, 3u);
    EXPECT_EQ(fast.info().replayed, 2u);
  }
}

TEST_F(Programs, RefuseVariablesThatAreNone) {
  Variable w(numbers({3}, 1));
  const auto fn = [&](const Tensor& x) { return x * w; };
  EXPECT_ERROR(record(fn, {&w, nullptr}), kInvalidArgument, "[record]", "variable 2 of 2 is null");
  auto ended = std::make_unique<Variable>(numbers({3}, 1));
  const auto fast = record(fn, {&w, ended.get()});
  static_cast<void>(fast(numbers({3}, 2)));
  ended.reset();
  EXPECT_ERROR(fast(numbers({3}, 2)), kInvalidArgument, "[record]", "variable 2 of 2 has ended");
  Variable moved(numbers({3}, 1));
  const Variable there(std::move(moved));
  EXPECT_ERROR(record(fn, {&moved})(numbers({3}, 2)), kInvalidArgument, "variable 1 of 1");
}

TEST_F(Programs, ThroughTheCAbi) {
  const ebb_context context = context_.id();
  const ebb_device device = session_.device().id();
  const Tensor x = numbers({3}, 1), c = numbers({3}, 2);
  const ebb_handle input = x.handle();
  ebb_program program = 0;
  EXPECT_EQ(ebb_program_begin(context, &input, 1, 1024, &program), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_program_begin(context, nullptr, 1, 0, &program), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_program_begin(context, &input, 1, 0, nullptr), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_program_begin(12345, &input, 1, 0, &program), EBB_STALE_HANDLE);
  const ebb_handle never = 0;
  EXPECT_EQ(ebb_program_begin(context, &never, 1, 0, &program), EBB_STALE_HANDLE);
  ASSERT_EQ(ebb_program_begin(context, &input, 1, 0, &program), EBB_OK);
  ebb_op_result result;
  EXPECT_EQ(ebb_program_run(program, device, &input, 1, &result, 1), EBB_WRONG_STATE);
  EXPECT_EQ(ebb_program_constant(program, 0), EBB_STALE_HANDLE);
  ASSERT_EQ(ebb_program_constant(program, c.handle()), EBB_OK);
  const Tensor y = x + c;
  ebb_program_info info{};
  info.size = sizeof info;
  const ebb_handle output = y.handle();
  std::thread([&] {
    EXPECT_EQ(ebb_program_end(program, &output, 1, &info), EBB_STALE_HANDLE);
    EXPECT_EQ(ebb_program_free(program), EBB_OK);
  }).join();
  ASSERT_EQ(ebb_program_end(program, &output, 1, &info), EBB_OK);
  EXPECT_EQ(info.steps, 1u);
  EXPECT_EQ(info.constants, 1u);
  EXPECT_EQ(info.captured, 0u);
  EXPECT_EQ(ebb_program_end(program, &output, 1, &info), EBB_WRONG_STATE);
  EXPECT_EQ(ebb_program_input(program, input), EBB_WRONG_STATE);
  EXPECT_EQ(ebb_program_captured(program, nullptr, 0), EBB_OK);
  EXPECT_EQ(ebb_program_run(program, device, &input, 1, nullptr, 1), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_program_run(program, 999, &input, 1, &result, 1), EBB_STALE_HANDLE);
  ASSERT_EQ(ebb_program_run(program, device, &input, 1, &result, 1), EBB_OK);
  EXPECT_EQ(values(Tensor(context_, result.handle)), values(y));
  EXPECT_EQ(ebb_program_free(program), EBB_OK);
  EXPECT_EQ(ebb_program_free(program), EBB_OK);
  EXPECT_EQ(ebb_program_run(program, device, &input, 1, &result, 1), EBB_STALE_HANDLE);
}

TEST_F(Programs, AreNothingAfterAnEndThatFailed) {
  const Tensor x = numbers({3}, 1);
  const ebb_handle input = x.handle(), never = 0;
  ebb_program program = 0;
  ASSERT_EQ(ebb_program_begin(context_.id(), &input, 1, 0, &program), EBB_OK);
  ebb_program_info info{};
  info.size = sizeof info;
  EXPECT_EQ(ebb_program_end(program, &never, 1, &info), EBB_STALE_HANDLE);
  EXPECT_EQ(ebb_program_end(program, &input, 1, &info), EBB_STALE_HANDLE);
  EXPECT_EQ(values(x + x), values(x * 2.0));
}

}  // namespace
}  // namespace ebb::test
