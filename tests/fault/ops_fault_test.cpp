// Every allocation of an operation fails in turn: an error, nothing left behind, and the next call
// works.
#include <gtest/gtest.h>

#include "ebb/ops/run.hpp"
#include "fault/failing_new.hpp"
#include "support/audited.hpp"
#include "support/hosts.hpp"
#include "support/seed.hpp"

namespace ebb::fault {
namespace {

struct Step {
  ops::OpId op;
  std::vector<Shape> inputs;
  std::vector<double> attributes;
  DType dtype = DType::kFloat32;
};

// One of each way in which operations allocate: outputs, workspaces, conversions, lists.
const std::vector<Step>& steps() {
  using ops::op_id;
  static const std::vector<Step> all{
      {op_id("Add"), {{64, 64}, {64}}, {}},
      {op_id("AddN"), {{8}, {8}, {8}, {8}, {8}, {8}}, {}},
      {op_id("Sum"), {{4, 5, 6}}, {2, 0, 2, 0}},
      {op_id("Mean"), {{4, 5}}, {1, 1, 0}, DType::kInt32},
      {op_id("SplitV"), {{12, 4}}, {6, 2, 2, 2, 2, 2, 2, 0}},
      {op_id("SpaceToBatchND"), {{1, 4, 4, 1}}, {2, 2, 2, 4, 0, 0, 0, 0}},
      {op_id("Reshape"), {{4, 5}}, {1, 20}},
      {op_id("TopK"), {{3, 9}}, {2, 1}},
      {op_id("Unique"), {{9}}, {0}},
      {op_id("Where"), {{9}}, {}},
      {op_id("FFT"), {{2, 15}}, {}, DType::kComplex64},
      {op_id("NonMaxSuppressionV5"), {{5, 4}, {5}}, {3, 0.5, -1, 0.1}},
      {op_id("RaggedRange"), {{}, {}, {}}, {}, DType::kInt32},
      {op_id("AdamUpdate"),
       {{}, {}, {64}, {64}, {64}, {64}, {8, 8}, {8, 8}, {8, 8}, {8, 8}},
       {0.9, 0.999, 0.001, 1e-7}},
      {op_id("SgdUpdate"), {{}, {64}, {64}, {8, 8}, {8, 8}}, {}},
      {op_id("MomentumUpdate"), {{}, {}, {64}, {64}, {64}}, {1}},
      {op_id("AdagradUpdate"), {{64}, {64}, {64}}, {0.01, 1e-7}},
      {op_id("AdadeltaUpdate"), {{64}, {64}, {64}, {64}}, {0.001, 0.95, 1e-7}},
      {op_id("AdamaxUpdate"), {{}, {}, {64}, {64}, {64}, {64}}, {0.9, 0.999, 0.002, 1e-7, 0}},
      {op_id("RmsPropUpdate"), {{64}, {64}, {64}, {64}, {64}}, {0.01, 0.9, 0, 1e-7, 1}},
  };
  return all;
}

class OpFaults : public testing::Test {
 protected:
  std::vector<Handle> inputs_of(const Step& step) {
    std::vector<Handle> inputs;
    for (const Shape& shape : step.inputs) {
      inputs.push_back(context_->make({.device = cpu_.get(), .dtype = step.dtype, .shape = shape}));
      const std::vector<std::int32_t> ones(bytes_of(shape, size_of(step.dtype)) / 4, 1);
      ops::write(*context_, inputs.back(), std::as_bytes(std::span(ones)));
    }
    return inputs;
  }

  // Views of them with their axes turned round.
  std::vector<Handle> turned_inputs_of(const Step& step) {
    std::vector<Handle> inputs = inputs_of(step);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::vector<double> perm{static_cast<double>(step.inputs[i].rank())};
      for (std::size_t axis = step.inputs[i].rank(); axis-- > 0;) {
        perm.push_back(static_cast<double>(axis));
      }
      ops::OpResult turned;
      ops::run({*context_, *cpu_}, ops::op_id("Transpose"), {&inputs[i], 1}, perm, {&turned, 1});
      context_->dispose(inputs[i]);
      inputs[i] = turned.handle;
    }
    return inputs;
  }

  // Whether the call went through.
  bool run(const Step& step, std::span<const Handle> inputs, std::span<ops::OpResult> results) {
    try {
      count_ = ops::run({*context_, *cpu_}, step.op, inputs, step.attributes, results);
      return true;
    } catch (const Error&) {
      return false;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  void dispose(std::span<const ops::OpResult> results) {
    for (std::size_t i = 0; i < count_; ++i) context_->dispose(results[i].handle);
    count_ = 0;
  }

  test::OpenDevice cpu_{{.name = "op faults"}};
  ContextPtr context_ = Context::create({.name = "op faults"});
  std::size_t count_ = 0;
};

TEST_F(OpFaults, EveryNewFailsInTurn) {
  std::uint64_t points = 0;
  for (const Step& step : steps()) {
    SCOPED_TRACE(ops::find_op(step.op)->name);
    const std::vector<Handle> inputs = inputs_of(step);
    std::array<ops::OpResult, 8> results;
    ASSERT_TRUE(run(step, inputs, results));
    dispose(results);
    for (std::uint64_t n = 1;; ++n) {
      fail_new_at(n, false);
      const bool done = run(step, inputs, results);
      const bool failed = stop_failing_new() != 0;
      if (done) dispose(results);
      EXPECT_EQ(context_->memory().books.live, inputs.size()) << "allocation " << n;
      EXPECT_EQ(context_->memory().books.held.count, 0u);
      Context::audit();
      if (!failed) break;
      ++points;
    }
    ASSERT_TRUE(run(step, inputs, results)) << "after the failures";
    dispose(results);
    for (const Handle each : inputs) context_->dispose(each);
  }
  test::note("operations: {} allocations failed in turn", points);
  EXPECT_GT(points, 10u);
}

// Operands are strided: they are made dense, or read where they are, or viewed in another way.
TEST_F(OpFaults, EveryNewFailsInTurnWithViews) {
  using ops::op_id;
  const std::vector<Step> strided{
      {op_id("Add"), {{64, 32}, {64, 32}}, {}},
      {op_id("Softmax"), {{12, 20}}, {1}},
      {op_id("Reshape"), {{4, 5}}, {1, 20}},
      {op_id("Slice"), {{8, 8}}, {2, 1, 1, 2, 6, 6}},
      {op_id("AddN"), {{3, 4}, {3, 4}, {3, 4}, {3, 4}, {3, 4}}, {}},
      {op_id("AdamUpdate"), {{}, {}, {3, 4}, {3, 4}, {3, 4}, {3, 4}}, {0.9, 0.999, 0.001, 1e-7}},
  };
  std::uint64_t points = 0;
  for (const Step& step : strided) {
    SCOPED_TRACE(ops::find_op(step.op)->name);
    std::array<ops::OpResult, 8> results;
    for (std::uint64_t n = 1;; ++n) {
      const std::vector<Handle> inputs = turned_inputs_of(step);
      fail_new_at(n, false);
      const bool done = run(step, inputs, results);
      const bool failed = stop_failing_new() != 0;
      if (done) dispose(results);
      EXPECT_EQ(context_->memory().books.live, inputs.size()) << "allocation " << n;
      EXPECT_EQ(context_->memory().books.held.count, 0u);
      Context::audit();
      ASSERT_TRUE(run(step, inputs, results)) << "after the failure";
      dispose(results);
      for (const Handle each : inputs) context_->dispose(each);
      if (!failed) break;
      ++points;
    }
  }
  test::note("operations on views: {} allocations failed in turn", points);
}

// Now and then a view needs a new chunk of records.
TEST_F(OpFaults, AViewThatFindsNoRecordIsAnError) {
  const Step step{ops::op_id("Slice"), {{8, 8}}, {2, 1, 1, 2, 6, 6}};
  const std::vector<Handle> inputs = inputs_of(step);
  std::array<ops::OpResult, 8> results;
  std::uint64_t failures = 0, made = 0;
  for (int i = 0; i < 3000; ++i) {
    fail_new_at(1, false);
    const bool done = run(step, inputs, results);
    stop_failing_new();
    made += done ? 1 : 0;
    failures += done ? 0 : 1;
    if (!done) {
      ASSERT_TRUE(run(step, inputs, results));
      ++made;
    }
    ASSERT_EQ(context_->memory().books.live, made + 1);
  }
  Context::audit();
  EXPECT_GE(failures, 2u);
}

// The copy that makes an operand dense does not fit. Where it does, the output does as well: the
// memory that the operand shared is free by then.
TEST_F(OpFaults, MakingDenseFails) {
  const Step step{ops::op_id("Softmax"), {{2048, 512}}, {1}};
  std::uint64_t refused = 0;
  for (std::uint64_t more = 0;; more += 128 << 10) {
    const std::vector<Handle> inputs = turned_inputs_of(step);
    std::array<ops::OpResult, 8> results;
    cpu_->pool().flush_thread();
    cpu_->pool().trim(~std::size_t{0});
    cpu_->set_budget(cpu_->committed() + more, BudgetMode::kHard);
    const bool done = run(step, inputs, results);
    cpu_->set_budget(0, BudgetMode::kHard);
    if (done) dispose(results);
    EXPECT_EQ(context_->memory().books.live, 1u);
    EXPECT_EQ(context_->memory().books.storages.count, 1u);
    EXPECT_EQ(context_->memory().books.held.count, 0u);
    Context::audit();
    refused += done ? 0 : 1;
    EXPECT_EQ(context_->describe(inputs[0]).dense, done) << "where it failed it is as it was";
    ASSERT_TRUE(run(step, inputs, results));
    dispose(results);
    context_->dispose(inputs[0]);
    if (done) break;
  }
  EXPECT_GE(refused, 2u);
}

// The budget rises in steps smaller than any output or workspace, so each of them is the first not
// to fit once.
TEST_F(OpFaults, EveryTensorFailsInTurn) {
  using ops::op_id;
  const std::vector<Step> large{
      {op_id("Add"), {{1 << 18}, {1 << 18}}, {}},
      {op_id("Mean"), {{1 << 18}}, {1, 0, 0}, DType::kInt32},
      {op_id("SplitV"), {{6, 1 << 16}}, {6, 1, 1, 1, 1, 1, 1, 0}},
      {op_id("SpaceToBatchND"), {{1, 512, 512, 1}}, {2, 2, 2, 4, 0, 0, 0, 0}},
      {op_id("AdamUpdate"),
       {{}, {}, {1 << 18}, {1 << 18}, {1 << 18}, {1 << 18}},
       {0.9, 0.999, 0.001, 1e-7}},
  };
  for (const Step& step : large) {
    SCOPED_TRACE(ops::find_op(step.op)->name);
    const std::vector<Handle> inputs = inputs_of(step);
    std::array<ops::OpResult, 8> results;
    cpu_->pool().flush_thread();
    cpu_->pool().trim(~std::size_t{0});
    const std::uint64_t committed = cpu_->committed();
    std::uint64_t refused = 0;
    for (std::uint64_t more = 0;; more += 128 << 10) {
      cpu_->set_budget(committed + more, BudgetMode::kHard);
      const bool done = run(step, inputs, results);
      if (done) dispose(results);
      EXPECT_EQ(context_->memory().books.live, inputs.size());
      EXPECT_EQ(context_->memory().books.held.count, 0u);
      Context::audit();
      if (done) break;
      ++refused;
    }
    EXPECT_GE(refused, 2u);
    cpu_->set_budget(0, BudgetMode::kHard);
    for (const Handle each : inputs) context_->dispose(each);
  }
}

}  // namespace
}  // namespace ebb::fault
