// Depthwise convolutions and the products of their results as one step: to the bit what two steps give, and what lies
// between is never whole in memory.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "conformance/program_case.hpp"

namespace ebb::test {
namespace {

using Function = std::function<Tensors(const Tensors&)>;
using Windows = ops::DepthwiseConv2dNativeOptions;

void expect_near(const std::vector<float>& ours, const std::vector<float>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const float most = 2e-4F * std::max(1.0F, std::abs(theirs[i]));
    const bool near = std::isfinite(theirs[i]) ? std::abs(ours[i] - theirs[i]) <= most
                      : std::isnan(theirs[i])  ? std::isnan(ours[i])
                                               : ours[i] == theirs[i];
    ASSERT_TRUE(near) << i << ": " << ours[i] << ", not " << theirs[i];
  }
}

struct Extents {
  std::int64_t images = 1, height = 1, width = 1, channels = 1;
  std::int64_t rows = 3, taps = 3;  // of the filter
  std::int64_t columns = 1;
};

class SeparablePrograms : public ProgramCase {
 protected:
  void SetUp() override {
    if (is_queued()) GTEST_SKIP() << "one step on the CPU";
  }

  // x, the filter, a number for each channel, the matrix, a number for each column.
  static Tensors given(const Extents& e) {
    return {numbers({e.images, e.height, e.width, e.channels}, 1),
            numbers({e.rows, e.taps, e.channels, 1}, 2), numbers({e.channels}, 3),
            numbers({1, 1, e.channels, e.columns}, 4) * 0.1, numbers({e.columns}, 5)};
  }
  Program kept(const Tensors& inputs, const Function& function) {
    return recorded(inputs, function, {.variables = inputs.size() - 1, .keep = true});
  }
  // Its third run, when what stays the same is there; and the bytes of all the memory that it asked for.
  Tensors third_run(const Program& program, const Tensors& inputs, std::uint64_t& bytes) {
    run(program, inputs);
    run(program, inputs);
    const std::uint64_t before = context_.memory().books.created_storages.bytes;
    Tensors made = run(program, inputs);
    bytes = context_.memory().books.created_storages.bytes - before;
    return made;
  }
  static std::uint64_t bytes_in(const Tensor& x) { return x.shape().elements() * sizeof(float); }

  // pieces(x) gives the result, and what lies between: where that is a result as well, there are two steps.
  void expect_one_step(const Tensors& inputs, const Function& pieces, bool is_one = true) {
    const Program both = kept(inputs, [&](const Tensors& x) { return Tensors{pieces(x)[0]}; });
    const Program apart = kept(inputs, pieces);
    std::uint64_t bytes = 0, all = 0;
    const Tensors one = third_run(both, inputs, bytes), two = third_run(apart, inputs, all);
    expect_same(one, {two[0]});
    EXPECT_EQ(bytes < bytes_in(two[0]) + bytes_in(two[1]), is_one) << bytes;
    expect_near(one[0].to_vector<float>(), pieces(inputs)[0].to_vector<float>());
  }
};

Tensors plain(const Tensors& x, const Windows& windows = {}) {
  const Tensor between = ops::depthwise_conv2d_native(x[0], x[1], windows);
  return {ops::conv2d(between, x[3]), between};
}

Tensors whole(const Tensors& x, const Windows& windows = {}) {
  const Tensor between = ops::relu6(ops::depthwise_conv2d_native(x[0], x[1], windows) + x[2]);
  return {ops::relu(ops::conv2d(between, x[3]) + x[4]), between};
}

constexpr Extents kSome{.images = 3, .height = 57, .width = 61, .channels = 40, .columns = 65};

TEST_F(SeparablePrograms, ExtentsThatNothingDivides) {
  for (const Extents& e :
       {kSome, Extents{.images = 1, .height = 400, .width = 7, .channels = 100, .columns = 33},
        Extents{.images = 2, .height = 3, .width = 500, .channels = 97, .columns = 1},
        Extents{.images = 300, .height = 2, .width = 2, .channels = 520, .columns = 64},
        Extents{.images = 1, .height = 97, .width = 97, .channels = 32, .columns = 512}}) {
    SCOPED_TRACE(testing::Message() << e.height << 'x' << e.width << 'x' << e.channels);
    const Windows windows{.pads = {1, 1, 1, 1}};
    expect_one_step(given(e), [&](const Tensors& x) { return plain(x, windows); });
    expect_one_step(given(e), [&](const Tensors& x) { return whole(x, windows); });
  }
}

TEST_F(SeparablePrograms, WindowsOfAllKinds) {
  Extents e = kSome;
  for (const Windows& windows :
       {Windows{}, Windows{.strides = {1, 2}, .pads = {0, 1, 0, 2}},
        Windows{.pads = {4, 4, 4, 4}, .dilations = {2, 3}}, Windows{.pads = {30, 0, 2, 40}}}) {
    for (const auto& [rows, taps] : {std::pair{3, 3}, {1, 1}, {5, 5}, {1, 7}, {7, 2}}) {
      SCOPED_TRACE(testing::Message() << rows << 'x' << taps);
      e.rows = rows;
      e.taps = taps;
      e.images = windows.strides[1] == 2 ? 6 : 3;
      expect_one_step(given(e), [&](const Tensors& x) { return whole(x, windows); });
    }
  }
}

// The views are steps of each run, one of them between the two that become one.
TEST_F(SeparablePrograms, BiasesThatAreViews) {
  expect_one_step(given(kSome), [](const Tensors& x) -> Tensors {
    const Tensor first_bias = ops::reshape(x[2], {1, 1, 1, kSome.channels});
    const Tensor between = ops::depthwise_conv2d_native(x[0], x[1]) + first_bias;
    const Tensor bias = ops::reshape(x[4], {1, 1, 1, kSome.columns});
    return {ops::relu6(ops::conv2d(between, x[3]) + bias), between};
  });
}

TEST_F(SeparablePrograms, BatchNormalisationGoesIntoBoth) {
  Tensors inputs = given(kSome);
  inputs.push_back(ops::abs(numbers({kSome.columns}, 6)) + 0.5);
  inputs.push_back(ops::abs(numbers({kSome.channels}, 7)) + 0.5);
  const Windows windows{.pads = {1, 1, 1, 1}};
  expect_one_step(inputs, [&](const Tensors& x) -> Tensors {
    const Tensor first = ops::depthwise_conv2d_native(x[0], x[1], windows);
    const Tensor between = ops::relu6(ops::fused_batch_norm(first, x[2], x[6]));
    return {ops::relu6(ops::fused_batch_norm(ops::conv2d(between, x[3]), x[4], x[5])), between};
  });
}

TEST_F(SeparablePrograms, NumbersThatAreNoneStayNone) {
  Tensors inputs = given(kSome);
  std::vector<float> data = inputs[0].to_vector<float>();
  data[12345] = std::numeric_limits<float>::quiet_NaN();
  data[54321] = std::numeric_limits<float>::infinity();
  inputs[0] = tensor(data, inputs[0].shape());
  expect_one_step(inputs, [](const Tensors& x) { return whole(x, {.pads = {1, 1, 1, 1}}); });
}

// The same bits whether helping threads come or not.
TEST_F(SeparablePrograms, AreSteady) {
  const Tensors inputs = given(kSome);
  const Program program = kept(inputs, [](const Tensors& x) {
    return Tensors{whole(x, {.pads = {1, 1, 1, 1}})[0]};
  });
  for (int i = 0; i < 2; ++i) run(program, inputs);
  const Tensors with_kept = run(program, inputs);
  for (int i = 0; i < 24 && !HasFatalFailure(); ++i) expect_same(run(program, inputs), with_kept);
}

struct Apart {
  const char* name;
  Function pieces;
};

// x as in given(kSome).
const Apart kApart[] = {
    {"an activation that is more than limits",
     [](const Tensors& x) -> Tensors {
       const Tensor between = ops::elu(ops::depthwise_conv2d_native(x[0], x[1]));
       return {ops::conv2d(between, x[3]), between};
     }},
    {"one after the product",
     [](const Tensors& x) -> Tensors {
       const Tensors both = plain(x);
       return {ops::sigmoid(both[0]), both[1]};
     }},
    {"a number for each pixel",
     [](const Tensors& x) -> Tensors {
       const Tensor first = ops::depthwise_conv2d_native(x[0], x[1]);
       const Tensor between = first + ops::slice(x[2], {0}, {1});
       return {ops::conv2d(between, x[3]), between};
     }},
    {"two users",
     [](const Tensors& x) -> Tensors {
       const Tensors both = plain(x);
       return {both[0] * ops::sum(both[1], {0, 1, 2, 3}), both[1]};
     }},
    {"little between",
     [](const Tensors& x) -> Tensors {
       return plain(
           {ops::slice(x[0], {0, 0, 0, 0}, {1, 57, 61, kSome.channels}), x[1], x[2], x[3], x[4]});
     }},
};

TEST_F(SeparablePrograms, StepsThatStayApart) {
  for (const Apart& each : kApart) {
    SCOPED_TRACE(each.name);
    expect_one_step(given(kSome), each.pieces, false);
  }
  // More columns than rows: the team shares columns.
  expect_one_step(
      given({.height = 16, .width = 16, .channels = 1100, .columns = 300}),
      [](const Tensors& x) {
        return plain(x, {.pads = {1, 1, 1, 1}});
      },
      false);
  // Two filters for each channel.
  Tensors inputs = given(kSome);
  inputs[1] = numbers({3, 3, kSome.channels, 2}, 2);
  inputs[3] = numbers({1, 1, 2 * kSome.channels, kSome.columns}, 4) * 0.1;
  expect_one_step(
      inputs, [](const Tensors& x) { return plain(x); }, false);
}

// What is convolved would have to stay until the result is there.
TEST_F(SeparablePrograms, HoldNoMore) {
  const Extents e{.images = 4, .height = 128, .width = 128, .channels = 32, .columns = 96};
  const Tensors inputs = given(e);
  const auto peak = [&](ProgramOptions options) {
    options.variables = inputs.size() - 1;
    const Program program = recorded(
        inputs,
        [](const Tensors& x) -> Tensors {
          Tensors all = x;
          all[0] = ops::maximum(ops::transpose(x[0], {0, 2, 1, 3}), x[0]);
          return {plain(all, {.strides = {2, 2}, .pads = {1, 1, 1, 1}})[0]};
        },
        options);
    ContextPtr fresh = Context::create({.name = "peak"});
    const Session inside(ops::RunPlace{*fresh, session_.device()});
    std::vector<Tensor> own;
    std::vector<Handle> handles;
    for (const Tensor& each : inputs) {
      own.push_back(tensor(each.to_vector<float>(), each.shape()));
      handles.push_back(own.back().handle());
    }
    for (int i = 0; i < 3; ++i) {
      std::vector<ops::OpResult> results(1);
      program.run({*fresh, session_.device()}, handles, results);
      fresh->dispose(results[0].handle);
    }
    return fresh->memory().books.peak_bytes;
  };
  const std::uint64_t panels = 32 * 96 * sizeof(float);  // are kept
  EXPECT_LE(peak({.keep = true}), peak({.fuse = false, .absorb = false, .join = false}) + panels);
}

}  // namespace
}  // namespace ebb::test
