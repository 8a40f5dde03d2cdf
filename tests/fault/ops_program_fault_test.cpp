// A recorded training step under failing allocations: each of the recording and of a later run fails
// once, and then all from it on, in turn. Out of memory to the caller, the variables as they were,
// and the next run as if nothing had happened.
#include "ebb/grad/grad.hpp"
#include "ebb/ops/operators.hpp"
#include "ebb/program/record.hpp"
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

void step(Variable& weights, Variable& bias, const Tensor& x) {
  const auto loss = [&](const Tensor& in) {
    const Tensor y = ops::tanh(ops::batch_mat_mul(ops::transpose(in, {1, 0}), weights) + bias);
    return ops::mean(ops::square(y), {0, 1});
  };
  auto [value, gradients] = value_and_grad(loss, {&weights, &bias})(x);
  const std::vector<Tensor> made =
      ops::sgd_update(scalar(-0.1F), {weights, gradients[0], bias, gradients[1]});
  weights.assign(made[0]);
  bias.assign(made[1]);
}

template <typename Call>
bool runs_out(Call call) {
  try {
    call();
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const OutOfMemory&) {
    return true;
  }
  return false;
}

class ProgramFault : public testing::Test {
 protected:
  World world;
  std::int64_t scale = 1;  // of the tensors
  bool overwrite = false;

  // Three steps. Call number `armed` runs under arm(); where a later one than the first fails, it has
  // changed nothing, and is made again. The weights after each; empty where the first call failed,
  // which is the function itself.
  template <typename Arm, typename Disarm>
  std::vector<std::vector<float>> steps(int armed, Arm arm, Disarm disarm) {
    const ContextPtr context = Context::create({.name = "program"});
    const Session session({.context = *context, .device = *world.cpu});
    Variable weights(filled({6 * scale, 5 * scale})), bias(filled({5 * scale}));
    const Tensor x = filled({6 * scale, 4 * scale});
    auto recorded = record(
        [&](const Tensor& in) {
          step(weights, bias, in);
          return bias.value() * 2.0;
        },
        {&weights, &bias}, {.overwrite = overwrite});
    const auto call = [&] { static_cast<void>(recorded(x)); };
    std::vector<std::vector<float>> after;
    for (int i = 0; i < 3; ++i) {
      const std::vector<float> before = weights.value().to_vector<float>();
      if (i == armed) arm();
      const bool failed = runs_out(call);
      if (i == armed) disarm();
      if (failed && i == 0) return {};
      if (failed) {
        EXPECT_EQ(weights.value().to_vector<float>(), before);
        call();
      }
      after.push_back(weights.value().to_vector<float>());
    }
    return after;
  }

  // fails_at(n, and_later) makes the n-th point fail, alone or with those after it, and says how many did: until
  // there is no n-th. Returns how many there are, in both ways.
  template <typename FailsAt>
  std::uint64_t count_points(FailsAt fails_at) {
    std::uint64_t points = 0;
    for (const bool and_later : {false, true}) {
      for (std::uint64_t n = 1;; ++n) {
        world.give_all_back();
        const std::uint64_t faults = fails_at(n, and_later);
        EXPECT_NO_THROW(Context::audit()) << n;
        EXPECT_EQ(world.cpu->in_use(), 0u) << n;
        if (faults == 0 || testing::Test::HasFailure()) break;
        ++points;
      }
    }
    return points;
  }

  std::uint64_t fail_in_turn(int armed, const Failing& failing) {
    const auto expected = steps(
        -1, [] {}, [] {});
    return count_points([&](std::uint64_t n, bool and_later) {
      std::uint64_t faults = 0;
      const auto after = steps(
          armed, [&] { failing.arm(n, and_later); }, [&] { faults = failing.disarm(); });
      if (!after.empty()) {
        EXPECT_EQ(after, expected) << n;
      }
      return faults;
    });
  }

  // The device, when it is armed in the middle of things: nothing is left of what came before.
  Failing failing_emptied_device() {
    Failing device = failing_device(world);
    return {[this, arm = device.arm](std::uint64_t n, bool and_later) {
              world.give_all_back();
              arm(n, and_later);
            },
            device.disarm};
  }
};

TEST_F(ProgramFault, WhenNewFails) {
  for (const int armed : {0, 1}) {
    const std::uint64_t points = fail_in_turn(armed, failing_new());
    EXPECT_GT(points, 10u);
    test::note("program: {} fault points of new in call {}", points, armed);
  }
}

TEST_F(ProgramFault, WhenNewFailsBeforeVariablesAreWrittenOver) {
  overwrite = true;
  const std::uint64_t points = fail_in_turn(1, failing_new());
  EXPECT_GT(points, 10u);
  test::note("program that writes over its variables: {} fault points of new", points);
}

// Weights that stay: what is kept of them is made in the third call, which may go without.
class KeptFault : public ProgramFault {
 protected:
  bool separable = false;

  std::uint64_t fail_in_turn(int armed, const Failing& failing) {
    return count_points([&](std::uint64_t n, bool and_later) {
      const auto arm = [&] { failing.arm(n, and_later); };
      return separable ? of_convolutions(armed, arm, failing.disarm)
                       : of_products(armed, arm, failing.disarm);
    });
  }

 private:
  template <typename Arm, typename Disarm>
  std::uint64_t of_products(int armed, Arm arm, Disarm disarm) {
    const ContextPtr context = Context::create({.name = "kept"});
    const Session session({.context = *context, .device = *world.cpu});
    Variable weights(filled({6 * scale, 5 * scale})), mean(filled({5 * scale}));
    const Tensor x = filled({8 * scale, 6 * scale}), variance = ops::square(mean.value()) + 1.0;
    const auto f = [&](const Tensor& in) {
      const Tensor y = ops::batch_mat_mul(in, weights);
      return ops::relu(ops::fused_batch_norm(y, mean, variance));
    };
    return calls(x, f, {&weights, &mean}, armed, arm, disarm);
  }

  // One step from the third call on.
  template <typename Arm, typename Disarm>
  std::uint64_t of_convolutions(int armed, Arm arm, Disarm disarm) {
    const ContextPtr context = Context::create({.name = "separable"});
    const Session session({.context = *context, .device = *world.cpu});
    Variable filter(filled({3, 3, 32, 1})), matrix(filled({1, 1, 32, 8}));
    const auto f = [&](const Tensor& in) {
      const Tensor y = ops::depthwise_conv2d_native(in, filter, {.pads = {1, 1, 1, 1}});
      return ops::conv2d(ops::relu(y), matrix);
    };
    return calls(filled({1, 96, 96, 32}), f, {&filter, &matrix}, armed, arm, disarm);
  }

  template <typename Function, typename Arm, typename Disarm>
  std::uint64_t calls(const Tensor& x, Function f, const std::vector<Variable*>& variables,
                      int armed, Arm arm, Disarm disarm) {
    auto recorded = record(f, variables, {.keep = true});
    const std::vector<float> expected = f(x).template to_vector<float>();
    std::uint64_t faults = 0;
    for (int i = 0; i < 5; ++i) {
      Tensor y;
      const auto call = [&] { y = recorded(x); };
      if (i == armed) arm();
      const bool failed = runs_out(call);
      if (i == armed) faults = disarm();
      if (failed) call();
      const std::vector<float> got = y.to_vector<float>();
      for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 1e-4) << i;
    }
    return faults;
  }
};

TEST_F(KeptFault, WhenNewFails) {
  for (const int armed : {2, 3}) {
    const std::uint64_t points = fail_in_turn(armed, failing_new());
    EXPECT_GT(points, 5u);
    test::note("kept: {} fault points of new in call {}", points, armed);
  }
}

TEST_F(KeptFault, WhenNewFailsInConvolutions) {
  separable = true;
  const std::uint64_t points = fail_in_turn(3, failing_new());
  EXPECT_GT(points, 5u);
  test::note("kept, a separable convolution: {} fault points of new", points);
}

TEST_F(KeptFault, WhenTheDeviceFailsInConvolutions) {
  separable = true;
  for (const int armed : {2, 3}) {
    const std::uint64_t points = fail_in_turn(armed, failing_emptied_device());
    EXPECT_GT(points, 0u);
    test::note("kept, a separable convolution: {} fault points of the device", points);
  }
}

TEST_F(KeptFault, WhenTheDeviceFails) {
  scale = 96;
  const std::uint64_t points = fail_in_turn(2, failing_emptied_device());
  EXPECT_GT(points, 0u);
  test::note("kept: {} fault points of the device", points);
}

TEST_F(ProgramFault, WhenTheDeviceFails) {
  scale = 96;  // so that memory has to come from the device
  for (const int armed : {0, 1}) {
    const std::uint64_t points = fail_in_turn(armed, failing_emptied_device());
    EXPECT_GT(points, 0u);
    test::note("program: {} fault points of the device in call {}", points, armed);
  }
}

}  // namespace
}  // namespace ebb::fault
