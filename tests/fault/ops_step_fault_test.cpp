// A training step of a small convolutional network under failing allocations: each fails once, and
// then all from it on, in turn. Out of memory to the caller, nothing left behind, and the next step
// gives the same weights as if nothing had happened.
#include <cstring>
#include <numeric>

#include "ebb/ops/run.hpp"
#include "fault/in_turn.hpp"
#include "support/audited.hpp"
#include "support/seed.hpp"

namespace ebb::fault {
namespace {

using ops::op_id;
using ops::OpId;

constexpr std::int64_t kBatch = 8;
constexpr std::int64_t kSide = 16;
constexpr std::int64_t kIn = 4;
constexpr std::int64_t kFilters = 16;
constexpr std::int64_t kClasses = 10;
constexpr std::int64_t kFlat = kSide / 2 * kSide / 2 * kFilters;

// All tensors of a step are in one region, which ends them whatever happens.
class Step {
 public:
  Step(Context& context, Device& cpu) : context_(context), cpu_(cpu), scope_(context) {}

  std::vector<float> run() {
    const Handle x = tensor({kBatch, kSide, kSide, kIn});
    const Handle filter = tensor({3, 3, kIn, kFilters});
    const Handle filter_bias = tensor({kFilters});
    const Handle weights = tensor({kFlat, kClasses});
    const Handle bias = tensor({kClasses});
    const Handle labels = tensor({kBatch, kClasses});
    const double s = kSide, half = kSide / 2, f = kFilters;

    const Handle hidden = op(op_id("FusedConv2D"), {x, filter, filter_bias},
                             {2, 1, 1, 4, 1, 1, 1, 1, 2, 1, 1, 2, s, s, 0, 1, 0});
    const Handle pooled =
        op(op_id("MaxPool"), {hidden}, {2, 2, 2, 2, 2, 2, 4, 0, 0, 0, 0, 2, 1, 1, 2, half, half});
    const Handle flat = op(op_id("Reshape"), {pooled}, {2, kBatch, kFlat});
    const Handle logits = op(op_id("_FusedMatMul"), {flat, weights, bias}, {0, 0, 0, 0});
    const Handle predicted = op(op_id("Softmax"), {logits}, {-1});

    const Handle d_logits = op(op_id("Sub"), {predicted, labels}, {});
    const Handle d_weights = op(op_id("BatchMatMul"), {flat, d_logits}, {1, 0});
    const Handle d_flat = op(op_id("BatchMatMul"), {d_logits, weights}, {0, 1});
    const Handle d_pooled = op(op_id("Reshape"), {d_flat}, {4, kBatch, half, half, f});
    const Handle d_hidden = op(op_id("MaxPoolGrad"), {d_pooled, hidden, pooled},
                               {2, 2, 2, 2, 2, 2, 4, 0, 0, 0, 0, 2, 1, 1});
    const Handle d_x = op(op_id("Conv2DBackpropInput"), {d_hidden, filter},
                          {2, 1, 1, 4, 1, 1, 1, 1, 2, 1, 1, 0, 4, kBatch, s, s, kIn});
    const Handle d_filter = op(op_id("Conv2DBackpropFilter"), {x, d_hidden},
                               {2, 1, 1, 4, 1, 1, 1, 1, 2, 1, 1, 0, 4, 3, 3, kIn, f});
    const Handle new_weights = op(op_id("Sub"), {weights, d_weights}, {});
    const Handle new_filter = op(op_id("Sub"), {filter, d_filter}, {});
    std::vector<float> result = values(new_weights);
    for (const Handle handle : {new_filter, d_x}) {
      const std::vector<float> more = values(handle);
      result.insert(result.end(), more.begin(), more.end());
    }
    return result;
  }

 private:
  Handle tensor(Shape shape) {
    const Handle handle = context_.make(
        {.device = &cpu_, .dtype = DType::kFloat32, .shape = shape, .region = scope_.id()});
    std::vector<float> data(shape.elements());
    for (std::size_t i = 0; i < data.size(); ++i) {
      data[i] = (static_cast<float>(i * 37 % 101) - 50.0F) / 800.0F;
    }
    ops::write(context_, handle, std::as_bytes(std::span(data)));
    return handle;
  }
  Handle op(OpId id, std::initializer_list<Handle> inputs,
            std::initializer_list<double> attributes) {
    ops::OpResult result;
    ops::run({context_, cpu_, scope_.id()}, id, {inputs.begin(), inputs.size()},
             {attributes.begin(), attributes.size()}, {&result, 1});
    return result.handle;
  }
  std::vector<float> values(Handle handle) {
    Operand operand;
    context_.resolve({&handle, 1}, {&operand, 1}, "test");
    std::vector<float> data(operand.shape.elements());
    ops::read(context_, handle, std::as_writable_bytes(std::span(data)));
    return data;
  }

  Context& context_;
  Device& cpu_;
  RegionScope scope_;
};

class StepFault : public testing::Test {
 protected:
  World world;
  // Plans are made once and kept; oneDNN's own allocations for them are not Ebb's to fail.
  const std::vector<float> expected = whole_step();

  std::vector<float> whole_step() {
    const ContextPtr context = Context::create({.name = "step"});
    std::vector<float> result = Step(*context, *world.cpu).run();
    return result;
  }
  std::uint64_t fail(const Failing& failing) {
    return fail_in_turn(
        world, failing, [&] { whole_step(); },
        [&](std::uint64_t n, bool) { EXPECT_EQ(whole_step(), expected) << "after fault " << n; });
  }
};

TEST_F(StepFault, WhenTheDeviceFails) {
  const std::uint64_t points = fail(failing_device(world));
  EXPECT_GT(points, 0u);
  test::note("training step: {} fault points of the device", points);
}

TEST_F(StepFault, WhenNewFails) {
  const std::uint64_t points = fail(failing_new());
  EXPECT_GT(points, 0u);
  test::note("training step: {} fault points of new", points);
}

}  // namespace
}  // namespace ebb::fault
