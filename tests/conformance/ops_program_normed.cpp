// Normalisations and sums that go along with what comes before them, where a device works on its own: near what the
// operations give one by one, and to the bit where they are switched off.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "conformance/program_case.hpp"

namespace ebb::test {
namespace {

using NormedPrograms = ProgramCase;

void expect_near(const Tensors& a, const Tensors& b) {
  compare(a, b, [](float ours, float theirs) {
    if (std::isnan(theirs)) {
      ASSERT_TRUE(std::isnan(ours));
    } else {
      ASSERT_NEAR(ours, theirs, 2e-5 * std::max(1.0F, std::abs(theirs)));
    }
  });
}

Tensor normed(const Tensor& x, const Tensors& in) {
  return ops::fused_batch_norm(x, in[4], in[5], {.offset = in[6], .scale = in[7]});
}

Tensor layer_norm(const Tensor& x) {
  const Tensor mean = ops::mean(x, {-1}, {.keep_dims = true});
  const Tensor variance = ops::mean(ops::square(x - mean), {-1}, {.keep_dims = true});
  return (x - mean) / ops::sqrt(variance + 1e-5);
}

struct Case {
  const char* name;
  std::function<Tensors(const Tensors&)> function;
  std::size_t steps;  // on a device that works on its own
};

// x[0] is [2, 9, 9, 20], x[1] [3, 3, 20, 1], x[2] [1, 1, 20, 20], x[3] [3, 3, 20, 20], x[4] to x[7] [20], x[8] [162, 20],
// x[9] [20, 36], x[10] [162, 36].
const Case kCases[] = {
    {"a depthwise convolution",
     [](const Tensors& x) -> Tensors {
       return {ops::relu6(normed(ops::depthwise_conv2d_native(x[0], x[1]), x))};
     },
     1},
    {"with strides and padding, limited",
     [](const Tensors& x) -> Tensors {
       const Tensor y =
           ops::depthwise_conv2d_native(x[0], x[1], {.strides = {2, 2}, .pads = {0, 1, 0, 1}});
       return {ops::clip_by_value(ops::relu(normed(y, x)), 0, 6)};
     },
     1},
    {"a pointwise one",
     [](const Tensors& x) -> Tensors { return {ops::elu(normed(ops::conv2d(x[0], x[2]), x))}; }, 1},
    {"one that could have a bias",
     [](const Tensors& x) -> Tensors { return {normed(ops::fused_conv2d(x[0], x[2]), x)}; }, 1},
    {"not: one that has a bias",
     [](const Tensors& x) -> Tensors {
       return {normed(ops::fused_conv2d(x[0], x[2], {.bias = x[4]}), x)};
     },
     2},
    {"any other",
     [](const Tensors& x) -> Tensors {
       return {normed(ops::conv2d(x[0], x[3], {.pads = {1, 1, 1, 1}}), x)};
     },
     1},
    {"an addend",
     [](const Tensors& x) -> Tensors {
       return {ops::relu(x[10] + ops::batch_mat_mul(x[8], x[9]))};
     },
     1},
    {"rows", [](const Tensors& x) -> Tensors { return {layer_norm(x[8])}; }, 1},
    {"rows of more axes", [](const Tensors& x) -> Tensors { return {layer_norm(x[0]) * 2.0}; }, 2},
    {"rows, by squared differences",
     [](const Tensors& x) -> Tensors {
       const Tensor mean = ops::mean(x[8], {1}, {.keep_dims = true});
       const Tensor variance =
           ops::mean(ops::squared_difference(x[8], mean), {1}, {.keep_dims = true});
       return {(x[8] - mean) / ops::sqrt(variance + 0.1)};
     },
     1},
};

class AnyNormedPrograms : public NormedPrograms {
 protected:
  Tensors given(double seed) {
    const auto shapes = std::vector<std::vector<std::int64_t>>{
        {2, 9, 9, 20}, {3, 3, 20, 1}, {1, 1, 20, 20}, {3, 3, 20, 20}, {20},     {20},
        {20},          {20},          {162, 20},      {20, 36},       {162, 36}};
    Tensors made;
    for (const auto& shape : shapes) made.push_back(numbers(shape, seed++));
    made[5] = ops::square(made[5]) + 0.5;  // a variance
    return made;
  }
};

TEST_F(AnyNormedPrograms, GiveWhatTheOperationsGive) {
  const Tensors x = given(1), other = given(100);
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.name);
    const Program program = recorded(x, each.function);
    if (is_queued()) {
      EXPECT_EQ(program.fused_steps(), each.steps);
    }
    for (int i = 0; i < 4; ++i) {  // the later ones as a graph
      expect_near(run(program, x), each.function(x));
      expect_near(run(program, other), each.function(other));
    }
    expect_same(run(recorded(x, each.function, {.join = false}), x), each.function(x));
  }
}

// A mean or a centred row that somebody else needs stays.
TEST_F(AnyNormedPrograms, KeepWhatIsUsedElsewhere) {
  const Tensors x = given(1);
  const auto f = [](const Tensors& in) -> Tensors {
    const Tensor mean = ops::mean(in[8], {1}, {.keep_dims = true});
    const Tensor centred = in[8] - mean;
    const Tensor variance = ops::mean(ops::square(centred), {1}, {.keep_dims = true});
    return {centred / ops::sqrt(variance + 0.1), variance};
  };
  const Program program = recorded(x, f);
  for (int i = 0; i < 4; ++i) expect_near(run(program, x), f(x));
}

TEST_F(AnyNormedPrograms, KeepWhatIsNotFinite) {
  std::vector<float> data(16 * 40, 1.0F);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 7);
  data[3] = std::numeric_limits<float>::quiet_NaN();
  data[100] = std::numeric_limits<float>::infinity();
  const Tensors x{tensor(data, {16, 40})};
  const auto f = [](const Tensors& in) -> Tensors { return {layer_norm(in[0])}; };
  expect_near(run(recorded(x, f), x), f(x));
}

// Every kind of tile, extents that fill none, either operand transposed.
TEST_F(NormedPrograms, ProductsOfAnyExtentsTakeAnAddend) {
  for (const bool turned_a : {false, true}) {
    for (const bool turned_b : {false, true}) {
      const auto f = [&](const Tensors& x) -> Tensors {
        return {ops::relu(
            ops::batch_mat_mul(x[0], x[1], {.transpose_a = turned_a, .transpose_b = turned_b}) +
            x[2])};
      };
      for (const std::int64_t rows : {1, 17, 52, 1100}) {
        for (const std::int64_t inner : {4, 36, 512, 516}) {
          for (const std::int64_t columns : {4, 33, 260}) {
            SCOPED_TRACE(testing::Message()
                         << rows << ' ' << inner << ' ' << columns << ' ' << turned_a << turned_b);
            const Tensors x{
                numbers(turned_a ? std::vector{inner, rows} : std::vector{rows, inner}, 1) * 0.1,
                numbers(turned_b ? std::vector{columns, inner} : std::vector{inner, columns}, 2) *
                    0.1,
                numbers({rows, columns}, 3)};
            const Tensor wide =
                ops::cast(ops::batch_mat_mul(ops::cast(x[0], DType::kFloat64),
                                             ops::cast(x[1], DType::kFloat64),
                                             {.transpose_a = turned_a, .transpose_b = turned_b}),
                          DType::kFloat32);
            expect_near(run(recorded(x, f), x), {ops::relu(wide + x[2])});
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ebb::test
