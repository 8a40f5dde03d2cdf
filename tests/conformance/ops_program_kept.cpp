// What depends on weights alone is made once, and again when they are others; batch normalisation goes into
// the weights, and products take them packed.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "conformance/program_case.hpp"

namespace ebb::test {
namespace {

void expect_near(const Tensors& a, const Tensors& b) {
  compare(a, b, [](float ours, float theirs) {
    if (std::isnan(theirs)) {
      ASSERT_TRUE(std::isnan(ours));
    } else if (std::isinf(theirs)) {
      ASSERT_EQ(ours, theirs);
    } else {
      ASSERT_NEAR(ours, theirs, 1e-4 * std::max(1.0F, std::abs(theirs)));
    }
  });
}

struct Keeping {
  const char* name;
  std::function<Tensors(const Tensors&)> function;
  std::size_t kept;  // tensors, on a device that has the kernels
};

Tensor normed(const Tensor& x, const Tensors& in) {
  return ops::fused_batch_norm(x, in[5], ops::square(in[6]) + 0.5,
                               {.offset = in[7], .scale = in[8]});
}

// x[0] is [2, 5, 5, 20]. The others are weights: x[1] [20, 33], x[2] [33], x[3] [1, 1, 20, 20],
// x[4] [3, 3, 20, 1], x[5] to x[8] [20], x[9] [33, 20], x[10] [3, 3, 20, 20].
const Keeping kKeepings[] = {
    {"a product",
     [](const Tensors& x) -> Tensors {
       return {ops::batch_mat_mul(ops::reshape(x[0], {50, 20}), x[1])};
     },
     1},
    {"its bias and activation",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::batch_mat_mul(ops::reshape(x[0], {50, 20}), x[1]) + x[2];
       return {ops::relu(y), ops::sigmoid(ops::batch_mat_mul(ops::reshape(x[0], {50, 20}), x[1]))};
     },
     1},
    {"a transposed matrix",
     [](const Tensors& x) -> Tensors {
       return {ops::batch_mat_mul(ops::reshape(x[0], {50, 20}), x[9], {.transpose_b = true})};
     },
     1},
    {"a pointwise convolution",
     [](const Tensors& x) -> Tensors { return {ops::relu(ops::conv2d(x[0], x[3]))}; }, 1},
    {"which is normalised and limited",
     [](const Tensors& x) -> Tensors {
       return {ops::clip_by_value(ops::relu(normed(ops::conv2d(x[0], x[3]), x)), 0, 6)};
     },
     2},
    {"a convolution that is normalised",
     [](const Tensors& x) -> Tensors {
       return {ops::elu(normed(ops::conv2d(x[0], x[10], {.pads = {1, 1, 1, 1}}), x))};
     },
     2},
    {"a depthwise one, with a bias before",
     [](const Tensors& x) -> Tensors {
       const Tensor y =
           ops::depthwise_conv2d_native(x[0], x[4], {.strides = {2, 2}, .pads = {1, 1, 1, 1}});
       return {ops::relu6(normed(y + x[6], x))};
     },
     2},
    {"normalisation of something else, which needs the variance",
     [](const Tensors& x) -> Tensors { return {ops::relu6(normed(x[0] * 2.0, x))}; }, 1},
    {"a product that is normalised",
     [](const Tensors& x) -> Tensors {
       const Tensor y =
           ops::batch_mat_mul(ops::reshape(x[0], {50, 20}), ops::reshape(x[3], {20, 20}));
       return {ops::fused_batch_norm(y, x[5], ops::square(x[6]) + 0.5)};
     },
     2},
    {"what is a result itself",
     [](const Tensors& x) -> Tensors {
       const Tensor w = ops::tanh(x[1]);
       return {w, ops::batch_mat_mul(ops::reshape(x[0], {50, 20}), w)};
     },
     2},
    {"fused ones, whose last input is left out",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::fused_conv2d(x[0], x[3]);
       const Tensor flat = ops::reshape(x[0], {50, 20});
       return {
           ops::relu6(normed(y, x)),
           ops::fused_mat_mul(flat, x[1], {.bias = x[2], .activation = ops::Activation::kRelu})};
     },
     3},
    {"not: a view",
     [](const Tensors& x) -> Tensors {
       return {ops::reshape(x[3], {400}), ops::reshape(x[0], {1000}) * 2.0};
     },
     0},
    {"not: what is updated, but what is not",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::batch_mat_mul(ops::reshape(x[0], {50, 20}), x[1]) * 0.02;
       const Tensor z = ops::batch_mat_mul(y, x[9]);
       const Tensor gradient = ops::batch_mat_mul(y, z, {.transpose_a = true});
       return {ops::sgd_update(scalar(-0.1F), {x[9], gradient})[0]};
     },
     1},
    {"not: a row",
     [](const Tensors& x) -> Tensors {
       return {ops::batch_mat_mul(ops::slice(ops::reshape(x[0], {50, 20}), {0, 0}, {1, 20}), x[1])};
     },
     0},
    {"not: strides, and channels that come first",
     [](const Tensors& x) -> Tensors {
       const Tensor first = ops::reshape(x[0], {2, 20, 5, 5});
       return {ops::conv2d(x[0], x[3], {.strides = {2, 2}}),
               ops::conv2d(first, x[3], {.channels_first = true})};
     },
     0},
    {"not: numbers that are drawn",
     [](const Tensors& x) -> Tensors {
       return {ops::random_uniform({20}, {.low = 0, .high = 1, .seed = 3}) * x[5] + x[0]};
     },
     0},
    {"not: what is much larger than the weights",
     [](const Tensors& x) -> Tensors {
       return {x[0] + ops::sum(ops::tile(x[1], {40, 40}), {0, 1})};
     },
     0},
};

class KeptPrograms : public ProgramCase {
 protected:
  Tensors weights(double seed) const {
    const auto shapes = std::vector<std::vector<std::int64_t>>{
        {20, 33}, {33}, {1, 1, 20, 20}, {3, 3, 20, 1}, {20},
        {20},     {20}, {20},           {33, 20},      {3, 3, 20, 20}};
    Tensors made;
    for (const auto& shape : shapes) made.push_back(numbers(shape, seed++));
    return made;
  }
  static Tensors with(const Tensor& x, const Tensors& weights) {
    Tensors all{x};
    all.insert(all.end(), weights.begin(), weights.end());
    return all;
  }
  bool keeps() { return session_.place().device.link() == nullptr; }
};

TEST_F(KeptPrograms, MakeOnceWhatTheWeightsDecide) {
  const Tensors first = weights(1), second = weights(50);
  for (const Keeping& each : kKeepings) {
    SCOPED_TRACE(each.name);
    const ProgramOptions on{.variables = first.size(), .keep = true};
    const Program program = recorded(with(numbers({2, 5, 5, 20}, 99), first), each.function, on);
    Tensors one = with(numbers({2, 5, 5, 20}, 99), first), other = with(one[0], second);
    for (int i = 0; i < 8; ++i) {
      SCOPED_TRACE(i);
      Tensors& given = i < 4 ? one : other;  // a copy of a weight would be another one by name
      given[0] = numbers({2, 5, 5, 20}, 100 + i);
      expect_near(run(program, given), each.function(given));
      EXPECT_EQ(program.kept(), keeps() && i % 4 > 0 ? each.kept : 0u);
    }
    const Program exact = recorded(with(numbers({2, 5, 5, 20}, 99), first), each.function,
                                   {.variables = first.size(), .join = false, .keep = true});
    for (int i = 0; i < 3; ++i) {
      one[0] = numbers({2, 5, 5, 20}, 200 + i);
      expect_same(run(exact, one), each.function(one));
    }
  }
}

// A weight's memory is its own affair: it ends when its owner lets go, and what was made of it when the
// next run is given another.
TEST_F(KeptPrograms, HoldNoWeights) {
  const auto f = [](const Tensors& x) -> Tensors { return {ops::batch_mat_mul(x[0], x[1])}; };
  Tensors given{numbers({8, 64}, 1), numbers({64, 64}, 2)};
  const Program program = recorded(given, f, {.graphs = false, .variables = 1, .keep = true});
  const auto live = [&] { return context_.memory().books.live; };
  const auto before = live();
  for (int i = 0; i < 3; ++i) expect_near(run(program, given), f(given));
  EXPECT_EQ(live(), before + program.kept());
  given[1] = numbers({64, 64}, 3);
  EXPECT_EQ(live(), before + program.kept());
  expect_near(run(program, given), f(given));
  EXPECT_EQ(program.kept(), 0u);
  EXPECT_EQ(live(), before);
}

TEST_F(KeptPrograms, NumbersThatAreNoneStayNone) {
  const auto f = [](const Tensors& x) -> Tensors {
    return {ops::relu6(ops::batch_mat_mul(x[0], x[1]) + x[2]),
            ops::relu(ops::batch_mat_mul(x[0], x[1]))};
  };
  std::vector<float> data(16 * 8, 1.0F);
  data[3] = std::numeric_limits<float>::quiet_NaN();
  data[20] = std::numeric_limits<float>::infinity();
  const Tensors given{tensor(data, {16, 8}), numbers({8, 70}, 2), numbers({70}, 3)};
  const Program program = recorded(given, f, {.variables = 2, .keep = true});
  for (int i = 0; i < 3; ++i) expect_near(run(program, given), f(given));
}

// Blocks of the inner extent, tiles of rows and parts of columns, whole and not.
TEST_F(KeptPrograms, MultiplyAnyExtents) {
  const auto f = [](const Tensors& x) -> Tensors {
    return {ops::relu(ops::batch_mat_mul(x[0], x[1]) + x[2])};
  };
  for (const std::int64_t rows : {4, 5, 13, 49, 97, 200}) {
    for (const std::int64_t inner : {1, 7, 512, 513, 1100}) {
      for (const std::int64_t columns : {1, 15, 32, 33, 100, 257}) {
        SCOPED_TRACE(testing::Message() << rows << ' ' << inner << ' ' << columns);
        const Tensors given{numbers({rows, inner}, 1) * 0.1, numbers({inner, columns}, 2) * 0.1,
                            numbers({columns}, 3)};
        const Program program = recorded(given, f, {.variables = 2, .keep = true});
        for (int i = 0; i < 2; ++i) expect_near(run(program, given), f(given));
      }
    }
  }
}

}  // namespace
}  // namespace ebb::test
