// A tape and a program being recorded, through the C ABI, under failing allocations: each fails once,
// and then all from it on, in turn. Every call says so, and the names that there are end as ever.
#include <gtest/gtest.h>

#include <array>

#include "ebb.h"
#include "fault/failing_new.hpp"
#include "fault/scenarios.hpp"
#include "support/seed.hpp"

namespace ebb::fault {
namespace {

class CapiTapeFault : public testing::Test {
 protected:
  static constexpr std::size_t kElements = 64;

  // Stops at the first call that fails; true where all were made.
  bool step() {
    ebb_context_options options{};
    options.size = sizeof(options);
    ebb_context context = 0;
    if (!made(ebb_context_create(&options, &context))) return false;
    ebb_tape tape = 0, inner = 0;
    ebb_program program = 0;
    const bool all = work(context, tape, inner, program);
    EXPECT_EQ(ebb_program_free(program), EBB_OK);
    EXPECT_EQ(ebb_tape_close(tape), EBB_OK);
    EXPECT_EQ(ebb_tape_close(inner), EBB_OK);
    EXPECT_EQ(ebb_context_destroy(context), EBB_OK);
    return all;
  }

  std::uint64_t fail_in_turn() {
    std::uint64_t points = 0;
    for (const bool and_later : {false, true}) {
      for (std::uint64_t n = 1;; ++n) {
        world.give_all_back();
        const std::int64_t before = outstanding();
        fail_new_at(n, and_later);
        const bool all = step();
        const bool failed = stop_failing_new() != 0;
        EXPECT_TRUE(failed || all) << n;
        EXPECT_EQ(ebb_audit(), EBB_OK) << n << ": " << ebb_last_error();
        EXPECT_EQ(world.cpu->in_use(), 0u) << n;
        EXPECT_LE(outstanding(), before + kKept) << n;
        if (!failed || HasFailure()) break;
        ++points;
      }
    }
    return points;
  }

  World world;

 private:
  static constexpr std::int64_t kKept = 2;  // the thread's message, and a list that has grown

  static bool made(ebb_status status) {
    EXPECT_TRUE(status == EBB_OK || status == EBB_OUT_OF_MEMORY) << ebb_last_error();
    return status == EBB_OK;
  }

  bool work(ebb_context context, ebb_tape& tape, ebb_tape& inner, ebb_program& program) {
    const ebb_device device = world.cpu->id();
    const std::int64_t dim = kElements;
    ebb_tensor_spec spec{};
    spec.size = sizeof(spec);
    spec.device = device;
    spec.dtype = EBB_FLOAT32;
    spec.rank = 1;
    spec.dims = &dim;
    ebb_handle x = 0;
    const std::array<float, kElements> values{1, 2, 3};
    if (!made(ebb_tensor_create(context, &spec, &x)) ||
        !made(ebb_tensor_write(context, x, values.data(), sizeof(values))) ||
        !made(ebb_program_begin(context, &x, 1, 0, &program)) ||
        !made(ebb_tape_open(context, &tape)) || !made(ebb_tape_watch(tape, x)) ||
        !made(ebb_tape_open_with(context, EBB_TAPE_BY_NAME, &inner)) ||
        !made(ebb_tape_watch(inner, x))) {
      return false;
    }
    const auto run = [&](const char* name, std::initializer_list<ebb_handle> inputs) {
      ebb_op_result result{};
      return made(ebb_op_run(context, device, ebb_op_find(name), inputs.begin(), inputs.size(),
                             nullptr, 0, &result, 1, nullptr))
                 ? result.handle
                 : 0;
    };
    const ebb_handle square = run("Multiply", {x, x});
    const ebb_handle y = square == 0 ? 0 : run("Tanh", {square});
    ebb_handle slope = 0, bend = 0;
    ebb_program_info info{};
    info.size = sizeof(info);
    return y != 0 && made(ebb_tape_backward(inner, device, &y, 1, nullptr, &x, 1, &slope)) &&
           made(ebb_tape_backward(tape, device, &slope, 1, nullptr, &x, 1, &bend)) && bend != 0 &&
           made(ebb_program_end(program, &bend, 1, &info));
  }
};

TEST_F(CapiTapeFault, WhenNewFails) {
  EXPECT_TRUE(step());
  const std::uint64_t points = fail_in_turn();
  EXPECT_GT(points, 100u);
  test::note("tape through the C ABI: {} fault points of new", points);
}

}  // namespace
}  // namespace ebb::fault
