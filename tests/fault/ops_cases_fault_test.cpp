// Every case that NumPy and SciPy made for the operations, under failing allocations: each of new
// and each commit of the device, once and for ever, in turn, on operands as they are and on views
// with their axes turned round. An error to the caller, nothing left behind, and the next call gives
// what the first gave.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>

#include "conformance/ops_case.hpp"
#include "ebb/ops/run.hpp"
#include "fault/failing_new.hpp"
#include "fault/scenarios.hpp"
#include "support/audited.hpp"
#include "support/seed.hpp"

namespace ebb::fault {
namespace {

using test::CaseTensor;
using test::OpCase;

std::vector<OpCase> all_cases() {
  std::vector<OpCase> cases;
  std::ifstream list(EBB_EXPECTED_LIST);
  for (std::string path; std::getline(list, path);) {
    if (path.empty()) continue;
    for (OpCase& each : test::read_cases(path)) cases.push_back(std::move(each));
  }
  return cases;
}

class OpCaseFaults : public testing::Test {
 protected:
  using Bytes = std::vector<std::vector<std::byte>>;

  // Its operands are there before anything fails.
  void give(const OpCase& one, bool turned) {
    inputs_.clear();
    for (const CaseTensor& each : one.inputs) {
      inputs_.push_back(turned && each.given ? turned_round(each) : tensor(each));
    }
    results_.resize(std::max<std::size_t>(one.outputs.size(), 16));
    op_ = ops::find_op(one.op)->id;
  }
  void take_back() {
    for (const Handle each : inputs_) {
      if (each != 0) context_->dispose(each);
    }
  }
  Handle tensor(const CaseTensor& given) {
    if (!given.given) return 0;
    const Handle made =
        context_->make({.device = world_.cpu.get(), .dtype = given.dtype, .shape = given.shape});
    ops::write(*context_, made, given.data);
    return made;
  }
  // Of the same shape and with the same numbers, in another order.
  Handle turned_round(CaseTensor given) {
    const std::size_t rank = given.shape.rank();
    std::vector<std::int64_t> dims(given.shape.dims().begin(), given.shape.dims().end());
    std::ranges::reverse(dims);
    given.shape = Shape(dims);
    const Handle base = tensor(given);
    std::vector<double> perm{static_cast<double>(rank)};
    for (std::size_t axis = rank; axis-- > 0;) perm.push_back(static_cast<double>(axis));
    ops::OpResult turned;
    ops::run({*context_, *world_.cpu}, ops::op_id("Transpose"), {&base, 1}, perm, {&turned, 1});
    context_->dispose(base);
    return turned.handle;
  }

  // How many results there are; none where it was refused.
  std::size_t run(const OpCase& one) {
    refused_ = false;
    try {
      return ops::run({*context_, *world_.cpu}, op_, inputs_, one.attributes, results_);
    } catch (const std::bad_alloc&) {
    } catch (const OutOfMemory&) {
    } catch (const Error&) {
      refused_ = true;
    }
    return 0;
  }
  Bytes values(std::size_t count) {
    Bytes read(count);
    for (std::size_t i = 0; i < count; ++i) {
      read[i].resize(bytes_of(results_[i].shape, size_of(results_[i].dtype)));
      ops::read(*context_, results_[i].handle, read[i]);
    }
    return read;
  }
  void end_results(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) context_->dispose(results_[i].handle);
  }
  Bytes whole(const OpCase& one) {
    const std::size_t count = run(one);
    Bytes read = values(count);
    end_results(count);
    return read;
  }

  template <typename Arm, typename Disarm>
  std::uint64_t fail_in_turn(const OpCase& one, Arm arm, Disarm disarm) {
    std::uint64_t points = 0;
    const std::uint64_t live = context_->memory().books.live;
    for (const bool and_later : {false, true}) {
      for (std::uint64_t n = 1;; ++n) {
        world_.give_all_back();
        arm(n, and_later);
        const std::size_t count = run(one);
        const bool failed = disarm() != 0;
        end_results(count);
        EXPECT_FALSE(refused_) << "fault " << n << ": another error than out of memory";
        EXPECT_EQ(context_->memory().books.live, live) << "fault " << n;
        EXPECT_EQ(context_->memory().books.held.count, 0u) << "fault " << n;
        if (!failed || HasFailure()) break;
        ++points;
      }
    }
    return points;
  }

  // All points of one case.
  std::uint64_t attack(const OpCase& one, bool turned) {
    give(one, turned);
    const Bytes expected = whole(one);  // and oneDNN's plans are made
    EXPECT_TRUE(turned || !refused_);
    const std::uint64_t points = refused_ ? 0 : fail_all(one);  // indices in another order
    EXPECT_EQ(whole(one), expected) << "after the failures";
    take_back();
    EXPECT_NO_THROW(Context::audit());
    return points;
  }
  std::uint64_t fail_all(const OpCase& one) {
    FaultHeap& faults = world_.heap->faults;
    const auto arm_device = [&](std::uint64_t n, bool and_later) { faults.fail_at(n, and_later); };
    const auto disarm_device = [&] {
      const std::uint64_t failed = faults.faults();
      faults.fail_at(0);
      return failed;
    };
    return fail_in_turn(one, arm_device, disarm_device) +
           fail_in_turn(one, fail_new_at, stop_failing_new);
  }

  World world_;
  ContextPtr context_ = Context::create({.name = "op cases"});
  std::vector<Handle> inputs_;
  std::vector<ops::OpResult> results_;
  ops::OpId op_{};
  bool refused_ = false;
};

TEST_F(OpCaseFaults, EveryAllocationOfEveryCaseFailsInTurn) {
  const std::vector<OpCase> cases = all_cases();
  ASSERT_GT(cases.size(), 4000u);
  std::uint64_t points = 0;
  for (const OpCase& each : cases) {
    SCOPED_TRACE(each.op + ": " + each.note);
    for (const bool turned : {false, true}) points += attack(each, turned);
    if (HasFailure()) break;
  }
  test::note("operations' cases: {} fault points in {} cases", points, cases.size());
  EXPECT_GT(points, 10'000u);
}

}  // namespace
}  // namespace ebb::fault
