// Means of float32: those of equal numbers, to the bit, and those whose sum has no float32.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/audited.hpp"
#include "support/op_world.hpp"

namespace ebb::test {
namespace {

class Means : public testing::Test {
 protected:
  // Of a rows x columns matrix that is `number` everywhere, along one axis.
  std::vector<float> of(double number, double rows, double columns, double axis) {
    const double dtype = static_cast<double>(DType::kFloat32);
    const auto made = world_.run("Fill", {}, {2, rows, columns, number, dtype});
    const auto mean = world_.run("Mean", {made.front().handle}, {1, axis, 0});
    const std::vector<float> read = world_.read<float>(mean.front());
    for (const auto& used : {made, mean}) world_.context().dispose(used.front().handle);
    return read;
  }

  void expect_itself(float number, int rows, int columns) {
    SCOPED_TRACE(testing::Message() << number << ", " << rows << " x " << columns);
    for (const int axis : {0, 1}) {
      const std::size_t left = static_cast<std::size_t>(axis == 0 ? columns : rows);
      EXPECT_EQ(of(number, rows, columns, axis), std::vector<float>(left, number));
    }
  }

  OpWorld world_;
};

TEST_F(Means, OfEqualNumbersAreThatNumber) {
  for (const float number : {0.1F, 3.1415927F, -1e-30F, 7.7e12F}) {
    for (const int count : {1, 3, 7, 10, 49, 100, 1000, 4097}) {
      expect_itself(number, count, 3);
      expect_itself(number, 1, count);
      expect_itself(number, 5, count);
    }
  }
  expect_itself(0.1F, 3, 2'000'003);  // by several threads
  expect_itself(0.1F, 1000, 2500);    // more columns than a strip has
}

TEST_F(Means, DoNotOverflow) {
  constexpr float kMost = std::numeric_limits<float>::max();
  expect_itself(kMost, 2, 9);
  expect_itself(-kMost, 17, 3);
}

TEST_F(Means, KeepWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  expect_itself(kInfinity, 4, 5);
  const Handle mixed = world_.make<float>({3}, {kInfinity, 1, -kInfinity});
  const auto mean = world_.run("Mean", {mixed}, {1, 0, 0});
  EXPECT_TRUE(std::isnan(world_.read<float>(mean.front()).front()));
}

}  // namespace
}  // namespace ebb::test
