// A training step over a tape under failing allocations: each of the forward and of the backward
// half fails once, and then all from it on, in turn. Out of memory to the caller, nothing left
// behind, and the next step gives the same gradients as if nothing had happened.
#include "ebb/grad/grad.hpp"
#include "ebb/ops/operators.hpp"
#include "fault/in_turn.hpp"
#include "support/audited.hpp"
#include "support/seed.hpp"

namespace ebb::fault {
namespace {

Tensor filled(const Shape& shape) {
  std::vector<float> data(shape.elements());
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = (static_cast<float>(i * 37 % 101) - 50.0F) / 200.0F;
  }
  return tensor(data, shape);
}

// A small network, its second derivatives as well: one tape in another.
std::vector<float> step(const Context& context, Device& cpu) {
  const Session session({.context = context, .device = cpu});
  const Tensor x = filled({4, 6, 6, 2}), filter = filled({3, 3, 2, 4}), weights = filled({64, 5});
  const Tensor bias = filled({5});
  const auto loss = [&](const Tensor& f, const Tensor& w, const Tensor& b) {
    const Tensor hidden = ops::relu(ops::conv2d(x, f));
    const Tensor flat = ops::reshape(hidden, {4, 64});
    const Tensor logits = ops::tanh(ops::batch_mat_mul(flat, w) + b);
    return ops::mean(ops::square(logits), {0, 1});
  };
  const auto sum_of_slopes = [&](const Tensor& f, const Tensor& w, const Tensor& b) {
    const auto slopes = grad(loss)(f, w, b);
    return ops::sum(ops::reshape(slopes[0], {-1}), {0}) + ops::sum(slopes[1], {0, 1});
  };
  std::vector<float> values;
  for (const Tensor& each : grad(sum_of_slopes)(filter, weights, bias)) {
    const std::vector<float> more = each.to_vector<float>();
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

class TapeFault : public testing::Test {
 protected:
  World world;
  // Plans are made once and kept; oneDNN's own allocations for them are not Ebb's to fail.
  const std::vector<float> expected = whole_step();

  std::vector<float> whole_step() {
    const ContextPtr context = Context::create({.name = "tape"});
    return step(*context, *world.cpu);
  }
  std::uint64_t fail(const Failing& failing) {
    return fail_in_turn(
        world, failing, [&] { whole_step(); },
        [&](std::uint64_t n, bool last) {
          if (!last && n % 16 != 1) return;
          EXPECT_EQ(whole_step(), expected) << "after fault " << n;
        });
  }
};

TEST_F(TapeFault, WhenTheDeviceFails) {
  const std::uint64_t points = fail(failing_device(world));
  EXPECT_GT(points, 0u);
  test::note("tape: {} fault points of the device", points);
}

TEST_F(TapeFault, WhenNewFails) {
  const std::uint64_t points = fail(failing_new());
  EXPECT_GT(points, 100u);
  test::note("tape: {} fault points of new", points);
}

}  // namespace
}  // namespace ebb::fault
