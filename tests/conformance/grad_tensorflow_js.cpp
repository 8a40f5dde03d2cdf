// Gradients as TensorFlow.js has them, where it has others than usual.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "ebb/grad/tape.hpp"
#include "ebb/ops/operators.hpp"
#include "support/audited.hpp"

namespace ebb::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Numbers = std::vector<double>;
using Function = std::function<Tensor(const Tensor&)>;

class AsTensorFlowJs : public testing::TestWithParam<DType> {
 protected:
  Tensor made(const Numbers& numbers, const Shape& shape) const {
    return ops::cast(tensor(std::vector<float>(numbers.begin(), numbers.end()), shape), GetParam());
  }
  Tensor vector(const Numbers& numbers) const {
    return made(numbers, Shape{static_cast<std::int64_t>(numbers.size())});
  }

  // Of each element of x; `dy` is one number for all of the result.
  Numbers slopes(const Function& f, const Tensor& x, double dy = 1, bool tensorflow_js = true) {
    Tape tape(session_.context(), {.tensorflow_js = tensorflow_js});
    tape.watch(x);
    const Tensor y = f(x);
    const Tensor seed = ops::ones_like(y) * dy;
    const Tensor dx = tape.backward({y}, {seed}, {x})[0];
    if (!dx) return {};
    EXPECT_EQ(dx.dtype(), GetParam());
    return ops::cast(dx, DType::kFloat64).to_vector<double>();
  }
  Numbers usual(const Function& f, const Tensor& x) { return slopes(f, x, 1, false); }

  Session session_;
};

INSTANTIATE_TEST_SUITE_P(Dtypes, AsTensorFlowJs,
                         testing::Values(DType::kFloat16, DType::kBfloat16, DType::kFloat32,
                                         DType::kFloat64),
                         [](const auto& each) { return std::string(name_of(each.param)); });

TEST_P(AsTensorFlowJs, AbsFallsAtZero) {
  const Tensor x = vector({-2, 0, 3});
  EXPECT_EQ(slopes(ops::abs, x), (Numbers{-1, -1, 1}));
  EXPECT_EQ(usual(ops::abs, x), (Numbers{-1, 0, 1}));
}

TEST_P(AsTensorFlowJs, EachMaximumGetsTheWhole) {
  const Tensor x = made({1, 5, 5, 2, 2, 2}, Shape{2, 3});
  const Function max = [](const Tensor& x) { return ops::max(x, {-1}); };
  EXPECT_EQ(slopes(max, x), (Numbers{0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(usual(max, made({1, 5, 5}, Shape{1, 3})), (Numbers{0, 0.5, 0.5}));
  const Function min = [](const Tensor& x) { return ops::min(x, {0, 1}, {.keep_dims = true}); };
  EXPECT_EQ(slopes(min, x, 3), (Numbers{3, 0, 0, 0, 0, 0}));
}

TEST_P(AsTensorFlowJs, AnAverageIsByTheWholeWindow) {
  const Tensor x = made({1, 2, 3}, Shape{1, 1, 3, 1});
  const Function average = [](const Tensor& x) {
    return ops::avg_pool(ops::cast(x, DType::kFloat32), {1, 2},
                         {.strides = {1, 2}, .pads = {0, 0, 0, 1}});
  };
  EXPECT_EQ(slopes(average, x), (Numbers{0.5, 0.5, 0.5}));
  EXPECT_EQ(usual(average, x), (Numbers{0.5, 0.5, 1}));
}

TEST_P(AsTensorFlowJs, NothingGoesBackToWhatWasMirrored) {
  const Function mirrored = [](const Tensor& x) { return ops::mirror_pad(x, {2, 1}); };
  EXPECT_EQ(slopes(mirrored, vector({1, 2, 3})), (Numbers{1, 1, 1}));
  EXPECT_EQ(usual(mirrored, vector({1, 2, 3})), (Numbers{1, 3, 2}));
}

TEST_P(AsTensorFlowJs, AProductWithZeroKeepsInfinities) {
  const Tensor other = vector({1, 1});
  const Function larger = [&](const Tensor& x) { return ops::maximum(x, other); };
  const Numbers slope = slopes(larger, vector({2, 0}), kInfinity);
  EXPECT_EQ(slope[0], kInfinity);
  EXPECT_TRUE(std::isnan(slope[1]));
  const Tensor rows = ops::cast(tensor({1.0f, 0.0f}, {2}), DType::kBool);
  const Function chosen = [&](const Tensor& x) { return ops::select(rows, x, x * 2.0); };
  EXPECT_EQ(slopes(chosen, made({1, 2, 3, 4}, Shape{2, 2})), (Numbers{1, 1, 2, 2}));
}

TEST_P(AsTensorFlowJs, StepsGiveZeros) {
  EXPECT_EQ(slopes(ops::floor, vector({0.5, 2})), (Numbers{0, 0}));
  EXPECT_EQ(usual(ops::floor, vector({0.5, 2})), Numbers{});
  const Function step = [](const Tensor& x) { return ops::sign(ops::sqrt(x)); };
  EXPECT_TRUE(std::isnan(slopes(step, vector({0}))[0])) << "0 / 0";
}

TEST_P(AsTensorFlowJs, PowersAndQuotientsAreByTheFormula) {
  const Tensor zero = vector({0});
  EXPECT_TRUE(std::isnan(slopes([&](const Tensor& x) { return ops::pow(x, zero); }, zero)[0]));
  const Tensor above = vector({1, 0});
  const Function by_one = [&](const Tensor& x) { return above / x; };
  EXPECT_EQ(slopes(by_one, zero), Numbers{-kInfinity}) << "summed before it is divided";
}

}  // namespace
}  // namespace ebb::test
