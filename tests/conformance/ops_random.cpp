// Random numbers: their range, their moments, and that a seed gives them again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ebb/ops/functions.hpp"
#include "support/audited.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

using Floats = std::vector<float>;

double mean_of(const Floats& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(const Floats& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const float each : values) sum += (each - mean) * (each - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(RandomOps, UniformFillsItsRange) {
  TestSession session;
  const Floats values =
      ops::random_uniform({100, 100}, {.low = -2, .high = 6, .seed = 42}).to_vector<float>();
  EXPECT_GE(*std::ranges::min_element(values), -2);
  EXPECT_LT(*std::ranges::max_element(values), 6);
  EXPECT_NEAR(mean_of(values), 2, 0.1);
  EXPECT_NEAR(deviation_of(values), 8 / std::sqrt(12.0), 0.1);
}

TEST(RandomOps, NormalHasItsMoments) {
  TestSession session;
  const Floats values = ops::random_normal({10000}, {.mean = 3, .standard_deviation = 2, .seed = 7})
                            .to_vector<float>();
  EXPECT_NEAR(mean_of(values), 3, 0.1);
  EXPECT_NEAR(deviation_of(values), 2, 0.1);
  const Floats cut =
      ops::random_normal({10000},
                         {.mean = 3, .standard_deviation = 2, .truncated = true, .seed = 7})
          .to_vector<float>();
  EXPECT_GE(*std::ranges::min_element(cut), -1);
  EXPECT_LE(*std::ranges::max_element(cut), 7);
  EXPECT_NEAR(deviation_of(cut), 2 * 0.88, 0.1);  // of a normal cut off at two deviations
}

TEST(RandomOps, ASeedGivesThemAgain) {
  TestSession session;
  const auto drawn = [](double seed) {
    return ops::random_uniform({64}, {.seed = seed}).to_vector<float>();
  };
  EXPECT_EQ(drawn(5), drawn(5));
  EXPECT_NE(drawn(5), drawn(6));
  EXPECT_NE(drawn(0), drawn(0));  // 0: another one each time
}

TEST(RandomOps, MultinomialFollowsTheProbabilities) {
  TestSession session;
  const Tensor probabilities = tensor({0.1f, 0.0f, 0.6f, 0.3f, 1.0f, 0.0f, 0.0f, 0.0f}, {2, 4});
  const Tensor logits = ops::log(probabilities);
  for (const bool normalized : {true, false}) {
    const auto samples = ops::multinomial(normalized ? probabilities : logits, 10000,
                                          {.seed = 11, .normalized = normalized})
                             .to_vector<std::int32_t>();
    ASSERT_EQ(samples.size(), 20000u);
    const auto share = [&](std::int32_t label) {
      return static_cast<double>(std::count(samples.begin(), samples.begin() + 10000, label)) / 1e4;
    };
    EXPECT_NEAR(share(0), 0.1, 0.02);
    EXPECT_EQ(share(1), 0);
    EXPECT_NEAR(share(2), 0.6, 0.02);
    EXPECT_NEAR(share(3), 0.3, 0.02);
    EXPECT_EQ(std::count(samples.begin() + 10000, samples.end(), 0), 10000);
  }
}

}  // namespace
}  // namespace ebb::test
