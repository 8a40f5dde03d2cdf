// Depthwise convolutions against the definition, under windows of all kinds.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/kernels/convolutions_depthwise.hpp"

namespace ebb::cpu {
namespace {

using Floats = std::vector<float>;
using Index = std::int64_t;

struct Axis {
  Index in, size, stride = 1, dilation = 1, before = 0, after = 0;

  Index out() const { return (in + before + after - (size - 1) * dilation - 1) / stride + 1; }
};

class Depthwise {
 public:
  Depthwise(Index batch, Axis rows, Axis columns, Index channels) {
    c_.depthwise = true;
    c_.in_channels = c_.out_channels = channels;
    c_.windows.batch = batch;
    std::size_t axis = 0;
    for (const Axis& each : {rows, columns}) {
      c_.windows.in[axis] = each.in;
      c_.windows.out[axis] = each.out();
      c_.windows.size[axis] = each.size;
      c_.windows.stride[axis] = each.stride;
      c_.windows.dilation[axis] = each.dilation;
      c_.windows.before[axis++] = each.before;
    }
    std::mt19937 random(17);
    std::uniform_real_distribution<float> value(-1, 1);
    data.resize(static_cast<std::size_t>(batch * rows.in * columns.in * channels));
    filter.resize(static_cast<std::size_t>(rows.size * columns.size * channels));
    bias.resize(static_cast<std::size_t>(channels));
    for (Floats* each : {&data, &filter, &bias}) {
      for (float& v : *each) v = value(random);
    }
  }

  Floats run(ops::Activation activation) const {
    EXPECT_TRUE(suits_depthwise(c_));
    Floats result(static_cast<std::size_t>(count()), 77.0F);
    run_depthwise(c_, {data.data(), filter.data(), bias.data(), result.data()}, activation);
    return result;
  }

  // One element of the result, without an activation.
  double expected(Index i) const {
    const ops::Windows& w = c_.windows;
    const Index c = i % c_.in_channels, x = i / c_.in_channels % w.out[1];
    const Index y = i / c_.in_channels / w.out[1] % w.out[0];
    const Index n = i / c_.in_channels / w.out[1] / w.out[0];
    double sum = bias[static_cast<std::size_t>(c)];
    for (Index tap = 0; tap < w.size[0] * w.size[1]; ++tap) {
      const Index row = y * w.stride[0] - w.before[0] + tap / w.size[1] * w.dilation[0];
      const Index column = x * w.stride[1] - w.before[1] + tap % w.size[1] * w.dilation[1];
      if (row < 0 || row >= w.in[0] || column < 0 || column >= w.in[1]) continue;
      const Index at = ((n * w.in[0] + row) * w.in[1] + column) * c_.in_channels + c;
      sum += static_cast<double>(data[static_cast<std::size_t>(at)]) *
             static_cast<double>(filter[static_cast<std::size_t>(tap * c_.in_channels + c)]);
    }
    return sum;
  }
  Index count() const {
    return c_.windows.batch * c_.windows.out[0] * c_.windows.out[1] * c_.in_channels;
  }

  Floats data, filter, bias;

 private:
  ops::Convolution c_;
};

const Axis kAxes[] = {
    {.in = 9, .size = 3, .before = 1, .after = 1},
    {.in = 17, .size = 3, .stride = 2, .before = 0, .after = 1},
    {.in = 14, .size = 3, .dilation = 2, .before = 2, .after = 2},
    {.in = 6, .size = 3},
    {.in = 2, .size = 3, .before = 1, .after = 1},
    {.in = 11, .size = 5, .before = 2, .after = 2},
    {.in = 13, .size = 1, .stride = 3},
    {.in = 4, .size = 3, .dilation = 3, .before = 9, .after = 9},  // some windows miss the data
    {.in = 12, .size = 4, .stride = 2, .before = -2, .after = -1},
};

TEST(Depthwise, GivesWhatTheDefinitionGives) {
  for (const Axis& rows : kAxes) {
    for (const Axis& columns : kAxes) {
      for (const Index channels : {1, 5, 16, 33}) {
        const Depthwise each(2, rows, columns, channels);
        const Floats result = each.run(ops::Activation::kLinear);
        for (Index i = 0; i < each.count(); ++i) {
          ASSERT_NEAR(result[static_cast<std::size_t>(i)], each.expected(i), 1e-5)
              << rows.in << 'x' << columns.in << 'x' << channels << " at " << i;
        }
      }
    }
  }
}

TEST(Depthwise, ActivatesByLimitsAndOtherwise) {
  const Depthwise each(1, kAxes[0], kAxes[5], 20);
  const Floats plain = each.run(ops::Activation::kLinear);
  const Floats relu = each.run(ops::Activation::kRelu), relu6 = each.run(ops::Activation::kRelu6);
  const Floats elu = each.run(ops::Activation::kElu);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    ASSERT_EQ(relu[i], plain[i] < 0 ? 0 : plain[i]);
    ASSERT_EQ(relu6[i], plain[i] < 0 ? 0 : plain[i] > 6 ? 6 : plain[i]);
    ASSERT_NEAR(elu[i], plain[i] < 0 ? std::expm1(plain[i]) : plain[i], 1e-6);
  }
}

TEST(Depthwise, KeepsNaN) {
  Depthwise each(1, kAxes[0], kAxes[0], 16);
  each.data.assign(each.data.size(), std::numeric_limits<float>::quiet_NaN());
  for (const float made : each.run(ops::Activation::kRelu6)) ASSERT_TRUE(std::isnan(made));
}

}  // namespace
}  // namespace ebb::cpu
