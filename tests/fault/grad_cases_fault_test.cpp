// Every case that gradients are tried with, under failing allocations: each of new and each commit of
// the device, of the forward call and of the way back, once and for ever, in turn, on operands as they
// are and on transposed ones. An error to the caller, a tape that holds nothing, nothing left behind,
// and the next one gives what the first gave.
#include <gtest/gtest.h>

#include <new>
#include <optional>

#include "conformance/grad_case.hpp"
#include "ebb/grad/tape.hpp"
#include "ebb/ops/functions.hpp"
#include "fault/in_turn.hpp"
#include "grad/backprop.hpp"
#include "support/audited.hpp"
#include "support/seed.hpp"

namespace ebb::fault {
namespace {

using test::GradCase;
using Tensors = std::vector<Tensor>;
using Bytes = std::vector<std::vector<std::byte>>;

struct Points {
  std::uint64_t forward = 0, backward = 0;
};

// Watched, and its way back from all floating results.
class Call {
 public:
  Call(const GradCase& one, bool turned, Points& points)
      : one_(one), op_(ops::find_op(one.op)->id), points_(points) {
    const std::vector<test::Numbers> numbers = test::numbers_for(one);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      Tensor made = test::tensor_for(one.inputs[i], numbers[i], DType::kFloat32);
      inputs_.push_back(turned && made ? test::strided(made) : std::move(made));
    }
  }

  Tensors gradients() const {
    Tape tape;
    Tensors wanted;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!test::is_floating(one_.inputs[i])) continue;
      tape.watch(inputs_[i]);
      wanted.push_back(inputs_[i]);
    }
    const Tensors results = forward(tape);
    return backward(tape, results, wanted);
  }

 private:
  Tensors forward(const Tape& tape) const {
    try {
      Tensors results = ops::apply(op_, ops::detail::pointers(inputs_), one_.attributes);
      std::erase_if(results,
                    [](const Tensor& y) { return !gradients::is_differentiable(y.dtype()); });
      return results;
    } catch (...) {
      const Spared spared;
      ++points_.forward;
      EXPECT_EQ(tape.kept(), 0u);
      throw;
    }
  }
  // It lets go of all that the tape held; or it had not begun, and may be asked for again.
  Tensors backward(Tape& tape, const Tensors& results, const Tensors& wanted) const {
    const auto pass = [&] {
      return tape.backward(ops::detail::pointers(results), {}, ops::detail::pointers(wanted));
    };
    try {
      return pass();
    } catch (...) {
      const Spared spared;
      ++points_.backward;
      if (tape.kept() != 0) {
        EXPECT_NO_THROW(static_cast<void>(pass()));
      }
      EXPECT_EQ(tape.kept(), 0u);
      throw;
    }
  }

  const GradCase& one_;
  const ops::OpId op_;
  Points& points_;
  Tensors inputs_;
};

Bytes bytes_of_all(const Tensors& tensors) {
  Bytes all;
  for (const Tensor& each : tensors) {
    std::vector<std::byte>& bytes = all.emplace_back();
    if (!each) continue;
    bytes.resize(bytes_of(each.shape(), size_of(each.dtype())));
    each.read(bytes);
  }
  return all;
}

class GradCaseFaults : public testing::Test {
 protected:
  // None where memory ran out.
  static std::optional<Tensors> attempt(const Call& call) {
    try {
      return call.gradients();
    } catch (const std::bad_alloc&) {
    } catch (const OutOfMemory&) {
    }
    return std::nullopt;
  }

  void fail_in_turn(const Call& call, const Bytes& expected, const Failing& failing) {
    world_.give_all_back();
    const Books before = context_->memory().books;
    const std::int64_t news = outstanding();
    for (const bool and_later : {false, true}) {
      for (std::uint64_t n = 1;; ++n) {
        world_.give_all_back();
        failing.arm(n, and_later);
        std::optional<Tensors> made = attempt(call);
        const bool failed = failing.disarm() != 0;
        EXPECT_TRUE(failed || made) << "fault " << n << ": an error of none";
        if (made) {
          EXPECT_EQ(bytes_of_all(*made), expected) << "fault " << n;
        }
        made.reset();
        const Books after = context_->memory().books;
        EXPECT_EQ(after.live, before.live) << "fault " << n;
        EXPECT_EQ(after.held.count, before.held.count) << "fault " << n;
        if (!failed || HasFailure()) break;
      }
    }
    world_.give_all_back();
    EXPECT_LE(outstanding(), news) << "not deleted";
  }

  // All points of one case.
  void attack(const GradCase& one, bool turned) {
    {
      const Session session({.context = *context_, .device = *world_.cpu});
      const Call call(one, turned, points_);
      const Bytes expected = bytes_of_all(call.gradients());  // and oneDNN's plans are made
      fail_in_turn(call, expected, failing_device(world_));
      fail_in_turn(call, expected, failing_new());
      EXPECT_EQ(bytes_of_all(call.gradients()), expected) << "after the failures";
    }
    EXPECT_NO_THROW(Context::audit());
    EXPECT_EQ(context_->memory().books.live, 0u);
    EXPECT_EQ(world_.cpu->in_use(), 0u);
  }

  World world_;
  ContextPtr context_ = Context::create({.name = "grad cases"});
  Points points_;
};

TEST_F(GradCaseFaults, EveryAllocationOfEveryCaseFailsInTurn) {
  for (const GradCase& each : test::grad_cases()) {
    SCOPED_TRACE(each.op);
    for (const bool turned : {false, true}) attack(each, turned);
    if (HasFailure()) break;
  }
  test::note("gradients' {} cases: {} errors of the forward call, {} of the way back",
             test::grad_cases().size(), points_.forward, points_.backward);
  EXPECT_GT(points_.forward, 8'000u);
  EXPECT_GT(points_.backward, 20'000u);
}

}  // namespace
}  // namespace ebb::fault
