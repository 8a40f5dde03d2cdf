// What drafts of programs and recorded functions refuse.
#include "conformance/program_case.hpp"
#include "support/expect_error.hpp"

namespace ebb::test {
namespace {

using RefusedPrograms = ProgramCase;

TEST_F(RefusedPrograms, AreDoneOnce) {
  const Tensor x = numbers({3}, 1);
  ProgramDraft draft(context_, {{x.handle()}});
  const Tensor y = ops::relu(x);
  const Program program = draft.finish({{y.handle()}});
  EXPECT_ERROR(draft.finish({{y.handle()}}), kWrongState, "[program_end]", "is done");
  EXPECT_ERROR(draft.input(y.handle()), kWrongState, "[program_input]", "is done");
  EXPECT_ERROR(draft.constant(y.handle()), kWrongState, "[program_constant]", "is done");
  EXPECT_ERROR(draft.replaces(x.handle()), kWrongState, "[program_replaces]", "is done");
  expect_same(run(program, {x}), {y});
}

TEST_F(RefusedPrograms, NoneIsNoArgument) {
  auto fast = record([](const Tensor& x, const Tensor& y) { return x + y; });
  const Tensor x = numbers({3}, 1);
  EXPECT_ERROR(fast(x, Tensor()), kInvalidArgument, "[record] argument 2 of 2 is none");
  static_cast<void>(fast(x, x));
  EXPECT_ERROR(fast(Tensor(), x), kInvalidArgument, "[record] argument 1 of 2 is none");
  EXPECT_EQ(bits(fast(x, x)), bits(x + x));
}

TEST_F(RefusedPrograms, NoneIsNoResult) {
  bool gives = false;
  auto fast = record([&](const Tensor& x) -> Tensors { return {x, gives ? x : Tensor()}; });
  const Tensor x = numbers({3}, 1);
  EXPECT_ERROR(fast(x), kInvalidArgument, "[record] result 2 of 2 is none");
  gives = true;
  expect_same(fast(x), {x, x});
}

}  // namespace
}  // namespace ebb::test
