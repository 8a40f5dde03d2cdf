// Recorded steps of a recurrent network, forwards and back: parts, gates, choices, and sums of many products. A GPU has
// plans of its own for them.
#include <gtest/gtest.h>

#include "conformance/program_case.hpp"
#include "ebb/ebb.hpp"
#include "ops/chain.hpp"

namespace ebb::test {
namespace {

using RecurrentPrograms = ProgramCase;

constexpr std::int64_t kSteps = 6, kBatch = 4, kIn = 3, kUnits = 8;

Tensor hard_sigmoid(const Tensor& x) { return ops::clip_by_value(x * 0.2 + 0.5, 0, 1); }

// The sum of the last state of an LSTM: x [batch, steps, in], its kernels and bias.
Tensor last_state(const Tensors& in) {
  Tensor h = ops::fill({kBatch, kUnits}, 0, DType::kFloat32), c = h;
  for (const Tensor& x : ops::unpack(ops::transpose(in[0], {1, 0, 2}))) {
    const Tensor z = ops::fused_mat_mul(x, in[1]) + ops::batch_mat_mul(h, in[2]) + in[3];
    const auto parts = ops::split_v(z, {kUnits, kUnits, kUnits, kUnits}, {.axis = 1});
    c = hard_sigmoid(parts[1]) * c + hard_sigmoid(parts[0]) * ops::tanh(parts[2]);
    h = hard_sigmoid(parts[3]) * ops::tanh(c);
  }
  return h;
}

Tensors value_and_slopes(const Tensors& in) {
  Tape tape;
  for (std::size_t i = 1; i < in.size(); ++i) tape.watch(in[i]);
  const Tensor loss = ops::sum(ops::square(last_state(in)), {0, 1});
  Tensors results = tape.backward({loss}, {}, {in[1], in[2], in[3]});
  results.push_back(loss);
  return results;
}

Tensors operands(double seed) {
  const auto numbers = [&](const std::vector<std::int64_t>& shape, double more) {
    return ops::random_uniform(shape, {.low = -2, .high = 2, .seed = seed + more});
  };
  return {numbers({kBatch, kSteps, kIn}, 1), numbers({kIn, 4 * kUnits}, 2),
          numbers({kUnits, 4 * kUnits}, 3), numbers({4 * kUnits}, 4)};
}

void expect_near(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto ours = a[i].to_vector<float>(), expected = b[i].to_vector<float>();
    ASSERT_EQ(ours.size(), expected.size());
    for (std::size_t k = 0; k < ours.size(); ++k) {
      ASSERT_NEAR(ours[k], expected[k], 1e-4F * (1 + std::abs(expected[k]))) << i << ", " << k;
    }
  }
}

// Again and again, so that graphs are captured where the device has them.
TEST_F(RecurrentPrograms, GiveWhatTheFunctionGives) {
  const Program program = recorded(operands(0), value_and_slopes);
  EXPECT_LT(program.fused_steps(), program.steps());
  for (int i = 0; i < 6; ++i) {
    SCOPED_TRACE(i);
    const Tensors in = operands(10 * i);
    expect_near(run(program, in), value_and_slopes(in));
  }
}

TEST_F(RecurrentPrograms, GiveTheSameBitsWhereTheyMustBeExact) {
  const Program program = recorded(operands(0), value_and_slopes, {.join = false});
  for (int i = 0; i < 6; ++i) {
    SCOPED_TRACE(i);
    const Tensors in = operands(10 * i);
    expect_same(run(program, in), value_and_slopes(in));
  }
}

// Truths that somebody wants are made as ever; the rest is a chain.
TEST_F(RecurrentPrograms, ChoicesAreTheSameToTheBit) {
  const auto f = [](const Tensors& x) -> Tensors {
    const Tensor more = ops::greater(x[0], x[1]);
    const Tensor both = ops::logical_and(more, ops::less_equal(x[0], x[2]));
    const Tensor chosen = ops::select(both, x[0] * x[1], ops::zeros_like(x[0]));
    return {chosen + x[1], ops::cast(more, DType::kFloat32), ops::elu_grad(chosen, x[0])};
  };
  const auto numbers_of = [&](double seed) -> Tensors {
    return {numbers({5, 9}, seed), numbers({5, 9}, seed + 1), numbers({9}, seed + 2)};
  };
  const Program program = recorded(numbers_of(1), f);
  for (int i = 0; i < 5; ++i) {
    const Tensors x = numbers_of(10 * i);
    expect_same(run(program, x), f(x));
  }
}

// Large enough for four elements a thread, and sizes that are not.
TEST_F(RecurrentPrograms, LongChainsAreTheSameToTheBit) {
  for (const std::int64_t columns : {1024, 1023}) {
    const auto f = [&](const Tensors& x) -> Tensors {
      Tensor y = x[0];
      for (int i = 0; i < 12; ++i) y = ops::tanh(y * x[1] + x[2]) - x[3] * 0.125;
      return {y, ops::slice(x[0], {0, 0}, {300, columns / 2}) * 2 + 1};
    };
    const Tensors x{numbers({300, columns}, 1), numbers({columns}, 2), numbers({1}, 3),
                    numbers({300, columns}, 4)};
    const Program program = recorded(x, f);
    for (int i = 0; i < 4; ++i) expect_same(run(program, x), f(x));
  }
}

}  // namespace
}  // namespace ebb::test
