// What a run that failed had made by then.
#include "conformance/program_case.hpp"
#include "ebb.h"
#include "support/expect_error.hpp"

namespace ebb::test {
namespace {

class PartlyRunPrograms : public ProgramCase {
 protected:
  std::uint64_t live() { return context_.memory().books.live; }
  // None where the run did not come so far.
  Tensors run_partly(const Program& program, const std::vector<Handle>& given) {
    std::vector<ops::OpResult> results(program.outputs());
    program.run_partly(session_.place(), given, results);
    Tensors made;
    for (const ops::OpResult& each : results) {
      made.push_back(each.handle == 0 ? Tensor() : Tensor(context_, each.handle));
    }
    return made;
  }
};

// The operations come in the order in which they were recorded, not as chains.
TEST_F(PartlyRunPrograms, StopWhereAShapeIsAnother) {
  const Tensor x = tensor({1.0F, 2.0F, 2.0F}, {3}), other = tensor({1.0F, 2.0F, 3.0F}, {3});
  const auto before = [](const Tensor& in) { return ops::relu(in) * 3.0; };
  ProgramDraft draft(context_, {{x.handle()}});
  const Tensor early = before(x), found = ops::unique(x)[0], late = ops::neg(early);
  const Program program =
      draft.finish({{late.handle(), early.handle(), found.handle(), x.handle()}});
  const std::size_t were = live();
  {
    const Tensors all = run_partly(program, {x.handle()});
    expect_same(all, {late, early, found, x});
    const Tensors made = run_partly(program, {other.handle()});
    EXPECT_FALSE(made[0]);
    expect_same({made[1], made[3]}, {before(other), other});
    EXPECT_FALSE(made[2]);
  }
  EXPECT_EQ(live(), were);
  EXPECT_ERROR(run(program, {other}), kWrongState, "Unique");
}

TEST_F(PartlyRunPrograms, StopWhereATensorIsNotThere) {
  const Tensor x = numbers({2, 3}, 1), c = numbers({3}, 2);
  ProgramDraft draft(context_, {{x.handle()}});
  const Tensor sum = ops::sum(x, {0, 1}), shifted = x + c, late = ops::exp(sum);
  const Program program =
      draft.finish({{sum.handle(), shifted.handle(), late.handle(), c.handle()}});
  const std::size_t were = live();
  {
    const Tensors made = run_partly(program, {x.handle(), 0});
    expect_same({made[0]}, {sum});
    for (const std::size_t i : {1, 2, 3}) EXPECT_FALSE(made[i]) << i;
    for (const Tensor& each : run_partly(program, {0, 0})) EXPECT_FALSE(each);
    expect_same(run_partly(program, {x.handle(), c.handle()}), {sum, shifted, late, c});
  }
  EXPECT_EQ(live(), were);
}

TEST_F(PartlyRunPrograms, RefuseWhatARunRefuses) {
  const Tensor x = numbers({3}, 1), longer = numbers({4}, 1);
  ProgramDraft draft(context_, {{x.handle()}});
  const Tensor y = ops::exp(x);
  const Program program = draft.finish({{y.handle()}});
  EXPECT_ERROR(run_partly(program, {longer.handle()}), kInvalidArgument, "was recorded");
  EXPECT_ERROR(run_partly(program, {}), kInvalidArgument, "0 tensors were given");
  std::vector<ops::OpResult> room(2);
  EXPECT_ERROR(program.run_partly(session_.place(), {{x.handle()}}, room), kInvalidArgument,
               "room for 2 results, it has 1");
}

TEST_F(PartlyRunPrograms, ThroughTheCAbi) {
  const Tensor x = numbers({3}, 1), c = numbers({3}, 2);
  const ebb_handle input = x.handle();
  ebb_program program = 0;
  ASSERT_EQ(ebb_program_begin(context_.id(), &input, 1, 0, &program), EBB_OK);
  const Tensor early = ops::exp(x), late = early + c;
  ebb_program_info info{};
  info.size = sizeof info;
  const ebb_handle outputs[] = {early.handle(), late.handle()};
  const ebb_device device = session_.device().id();
  ebb_op_result results[2];
  ebb_handle given[] = {input, 0};
  EXPECT_EQ(ebb_program_run_partly(program, device, given, 2, results, 2), EBB_WRONG_STATE);
  ASSERT_EQ(ebb_program_end(program, outputs, 2, &info), EBB_OK);
  EXPECT_EQ(ebb_program_run(program, device, given, 2, results, 2), EBB_STALE_HANDLE);
  EXPECT_EQ(ebb_program_run_partly(program, device, given, 2, nullptr, 2), EBB_INVALID_ARGUMENT);
  ASSERT_EQ(ebb_program_run_partly(program, device, given, 2, results, 2), EBB_OK);
  expect_same({Tensor(context_, results[0].handle)}, {early});
  EXPECT_EQ(results[1].handle, 0u);
  EXPECT_EQ(ebb_program_free(program), EBB_OK);
  EXPECT_EQ(ebb_program_run_partly(program, device, given, 2, results, 2), EBB_STALE_HANDLE);
}

}  // namespace
}  // namespace ebb::test
