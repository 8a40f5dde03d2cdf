// Random functions, recorded and run again on other values, against the functions themselves.
// EBB_PROGRAMS says how many, EBB_SEED repeats one run.
#include <gtest/gtest.h>

#include <random>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/seed.hpp"
#include "support/test_device.hpp"

namespace ebb::model {
namespace {

// A function of some tensors of one shape, from a seed: the same operations each time.
class RandomFunction {
 public:
  explicit RandomFunction(std::uint64_t seed) : seed_(seed) {}

  std::vector<Tensor> operator()(std::vector<Tensor> known) const {
    std::mt19937_64 random(seed_);
    const std::size_t steps = random() % 24;
    for (std::size_t i = 0; i < steps; ++i) {
      const Tensor &a = pick(known, random), &b = pick(known, random);
      Tensor made = apply(random() % 13, a, b);
      if (random() % 5 == 0) known.erase(known.begin() + static_cast<int>(random() % known.size()));
      known.push_back(std::move(made));
    }
    std::vector<Tensor> outputs;
    const std::size_t count = 1 + random() % 4;
    for (std::size_t i = 0; i < count; ++i) outputs.push_back(pick(known, random));
    return outputs;
  }

 private:
  static const Tensor& pick(const std::vector<Tensor>& known, std::mt19937_64& random) {
    return known[random() % known.size()];
  }
  static Tensor square_of(const Tensor& x) { return ops::reshape(x, {4, 4}); }
  static Tensor apply(std::uint64_t which, const Tensor& a, const Tensor& b) {
    switch (which) {
      case 0:
        return a + b;
      case 1:
        return a * b;
      case 2:
        return ops::tanh(a);
      case 3:
        return ops::reshape(ops::transpose(square_of(a), {1, 0}), {16});
      case 4:
        return ops::reshape(ops::batch_mat_mul(square_of(a), square_of(b)), {16}) * 0.1;
      case 5:
        return ops::softmax(a);
      case 6:
        return ops::concat({ops::slice(a, {8}, {8}), ops::slice(b, {0}, {8})}, {.axis = 0});
      case 7:
        return ops::reverse(a, {0});
      case 8:
        return ops::fill({16}, 0.5, DType::kFloat32);
      case 9:
        return a - ops::mean(b, {0});
      case 10:
        return grad([&](const Tensor& x) { return ops::sum(ops::tanh(x) * b, {0}); })(a);
      case 11:
        return ops::exp(ops::fill({16}, 0.25, DType::kFloat32)) - a;
      default:
        return ops::maximum(a, b);
    }
  }

  std::uint64_t seed_;
};

std::vector<std::vector<float>> values(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<float>> all;
  for (const Tensor& each : tensors) all.push_back(each.to_vector<float>());
  return all;
}

TEST(OpsPrograms, GiveWhatTheFunctionsGive) {
  const std::uint64_t wanted = test::from_environment("EBB_PROGRAMS", 1500);
  std::mt19937_64 random(test::seed_for("programs", 77));
  test::TestSession session;
  const auto numbers = [&] {
    return ops::random_uniform(
        {16}, {.low = -1, .high = 1, .seed = static_cast<double>(random() % 100000 + 1)});
  };
  const Tensor held = numbers();
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const std::uint64_t seed = random();
    const RandomFunction function(seed);
    const bool fold = random() % 4 != 0;
    const bool keep = random() % 2 == 0;
    Variable weight(numbers());
    auto recorded = record(
        [&](const Tensor& a, const Tensor& b) {
          return function({a, b, held, weight.value()});
        },
        {&weight}, {.fold = fold, .join = !keep, .keep = keep});
    for (int call = 0; call < 6; ++call) {
      if (call > 1 && random() % 3 == 0) weight.assign(numbers());
      const Tensor a = numbers(), b = numbers();
      EXPECT_EQ(values(recorded(a, b)), values(function({a, b, held, weight.value()})))
          << "function " << seed << ", call " << call;
    }
    if (i % 64 == 0) Context::audit();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_EQ(session.context().memory().books.live, 1u);
}

}  // namespace
}  // namespace ebb::model
