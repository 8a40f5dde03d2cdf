// Products and convolutions that take a bias and an activation, and sums of products that are one: near
// what the operations give one by one, and to the bit where they are switched off.
#include <gtest/gtest.h>

#include <functional>

#include "conformance/program_case.hpp"

namespace ebb::test {
namespace {

void expect_near(const Tensors& a, const Tensors& b) {
  compare(a, b, [](float ours, float theirs) { ASSERT_NEAR(ours, theirs, 1e-5); });
}

using JoinedPrograms = ProgramCase;

struct Joining {
  const char* name;
  std::function<Tensors(const Tensors&)> function;
  std::size_t steps;  // where all of them are on
};

// x[0] is [3, 4, 4, 5]; x[1] is [5, 6], x[2] [6], x[3] [2, 2, 5, 6], x[4] [3, 3, 5, 1], x[5] [5].
const Joining kJoinings[] = {
    {"product",
     [](const Tensors& x) -> Tensors {
       return {ops::relu(ops::batch_mat_mul(ops::reshape(x[0], {48, 5}), x[1]) + x[2])};
     },
     2},
    {"the bias first, and a slope",
     [](const Tensors& x) -> Tensors {
       return {ops::leaky_relu(x[2] + ops::batch_mat_mul(x[0], x[1]), {.alpha = 0.3})};
     },
     1},
    {"activation alone",
     [](const Tensors& x) -> Tensors { return {ops::sigmoid(ops::batch_mat_mul(x[0], x[1]))}; }, 1},
    {"bias alone",
     [](const Tensors& x) -> Tensors { return {ops::batch_mat_mul(x[0], x[1]) + x[2]}; }, 1},
    {"convolution",
     [](const Tensors& x) -> Tensors {
       const Tensor bias = ops::reshape(x[2], {1, 1, 1, 6});
       return {ops::elu(ops::conv2d(x[0], x[3], {.strides = {2, 2}}) + bias)};
     },
     2},
    {"depthwise",
     [](const Tensors& x) -> Tensors {
       return {ops::relu6(ops::depthwise_conv2d_native(x[0], x[4]) + x[5])};
     },
     1},
    {"one that has a bias",
     [](const Tensors& x) -> Tensors {
       return {ops::relu(ops::fused_mat_mul(ops::reshape(x[0], {48, 5}), x[1], {.bias = x[2]}))};
     },
     2},
    {"not: used twice",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::batch_mat_mul(x[0], x[1]);
       return {ops::sum(y, {0}), ops::relu(y)};
     },
     3},
    {"not: a result",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::batch_mat_mul(x[0], x[1]);
       return {y, ops::relu(y)};
     },
     2},
    {"not: a bias that comes later",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::batch_mat_mul(x[0], x[1]);
       return {y + ops::cumsum(x[2])};
     },
     3},
    {"not: other than along the columns",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::batch_mat_mul(ops::reshape(x[0], {3, 16, 5}), x[1]);
       return {y + ops::reshape(ops::slice(x[2], {0}, {3}), {3, 1, 1})};
     },
     5},
    {"not: activated already",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::fused_mat_mul(x[0], x[1], {.activation = ops::Activation::kSigmoid});
       return {y + x[2]};
     },
     2},
    {"not: wider than the product",
     [](const Tensors& x) -> Tensors {
       return {ops::batch_mat_mul(ops::slice(x[1], {0, 0}, {1, 6}), x[1], {.transpose_b = true}) +
               ops::reshape(x[0], {48, 5})};
     },
     4},
};

TEST_F(JoinedPrograms, JoinBiasAndActivation) {
  const Tensors x{numbers({3, 4, 4, 5}, 1), numbers({5, 6}, 2),       numbers({6}, 3),
                  numbers({2, 2, 5, 6}, 4), numbers({3, 3, 5, 1}, 5), numbers({5}, 6)};
  for (const Joining& each : kJoinings) {
    SCOPED_TRACE(each.name);
    const Program program = recorded(x, each.function);
    EXPECT_EQ(program.fused_steps(), each.steps);
    expect_near(run(program, x), each.function(x));
    expect_same(run(recorded(x, each.function, {.join = false}), x), each.function(x));
  }
}

// x[0] is [6, 4, 5], x[1] [6, 4, 7]: what a recurrent network's weights get of its steps.
Tensor sum_of_products(const Tensors& x, std::int64_t terms) {
  Tensor sum;
  for (std::int64_t i = 0; i < terms; ++i) {
    const Tensor a = ops::tanh(ops::reshape(ops::slice(x[0], {i, 0, 0}, {1, 4, 5}), {4, 5}));
    const Tensor b = ops::reshape(ops::slice(x[1], {i, 0, 0}, {1, 4, 7}), {4, 7});
    const Tensor product = ops::batch_mat_mul(a, b, {.transpose_a = true});
    sum = i == 0 ? product : sum + product;
  }
  return sum;
}

TEST_F(JoinedPrograms, SumsOfProductsAreOneProduct) {
  // The last is for something that holds more than all factors.
  const Tensors x{numbers({6, 4, 5}, 1), numbers({6, 4, 7}, 2), numbers({64, 64}, 3)};
  const auto six = [](const Tensors& in) -> Tensors {
    return {ops::sum(ops::cumsum(in[2]), {0, 1}), sum_of_products(in, 6)};
  };
  const Program program = recorded(x, six);
  EXPECT_EQ(program.steps(), 2u + 6 * 6 + 5);
  if (!is_queued()) {
    EXPECT_EQ(program.fused_steps(), 2u + 6 * 5 + 3);
  }
  expect_near(run(program, x), six(x));
  expect_same(run(recorded(x, six, {.join = false}), x), six(x));
  // Not of a few, and not where a part is needed.
  const auto two = [](const Tensors& in) -> Tensors { return {sum_of_products(in, 2)}; };
  const Program few = recorded(x, two);
  if (!is_queued()) {
    EXPECT_EQ(few.fused_steps(), few.steps());
  }
  const auto with_a_part = [](const Tensors& in) -> Tensors {
    const Tensor part = sum_of_products(in, 3);
    return {part + ops::batch_mat_mul(ops::reshape(in[0], {24, 5}), ops::reshape(in[1], {24, 7}),
                                      {.transpose_a = true}),
            part};
  };
  const Program parts = recorded(x, with_a_part);
  if (!is_queued()) {
    EXPECT_EQ(parts.fused_steps(), parts.steps());
  }
  expect_same(run(parts, x), with_a_part(x));
}

// The factors are kept until the last is there; where that is more than the sums, they stay.
TEST_F(JoinedPrograms, SumsOfProductsHoldNoMore) {
  const auto f = [](const Tensors& x) -> Tensors {
    Tensor sum;
    for (int i = 0; i < 6; ++i) {
      const Tensor a = ops::cumsum(x[0]), product = ops::batch_mat_mul(a, a, {.transpose_a = true});
      sum = i == 0 ? product : sum + product;
    }
    return {sum};
  };
  const Tensors x{numbers({400, 10}, 1)};
  const Program program = recorded(x, f);
  // A device that works on its own adds what is there already while it multiplies.
  EXPECT_EQ(program.fused_steps(), program.steps() - (is_queued() ? 5u : 0u));
  expect_same(run(program, x), f(x));
}

// As many additions within one another as would not fit a stack; and as many that are of something else.
TEST_F(JoinedPrograms, LongSumsAreTakenInParts) {
  constexpr int kMany = 100000;
  const Tensors x{numbers({1, 2}, 1), numbers({2, 2}, 2)};
  for (const bool products : {true, false}) {
    const auto f = [&](const Tensors& in) -> Tensors {
      const auto term = [&] {
        return products ? ops::batch_mat_mul(in[0], in[0], {.transpose_a = true}) : in[1];
      };
      Tensor sum = term();
      for (int i = 0; i < kMany; ++i) sum = sum + term();
      return {sum};
    };
    const Program program = recorded(x, f);
    expect_near(run(program, x), f(x));
  }
}

}  // namespace
}  // namespace ebb::test
