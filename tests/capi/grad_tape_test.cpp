// Tapes through the C ABI.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "capi/capi_fixture.hpp"
#include "ebb.h"

namespace {

class CapiTape : public CapiOpsTest {
 protected:
  void SetUp() override {
    CapiOpsTest::SetUp();
    x_ = vector({1, 2, 3});
    ASSERT_OK(ebb_tape_open(context_, &tape_));
  }
  void TearDown() override {
    EXPECT_OK(ebb_tape_close(tape_));
    CapiOpsTest::TearDown();
  }

  ebb_handle op(const char* name, const std::vector<ebb_handle>& inputs,
                const std::vector<double>& attributes = {}) {
    ebb_op_result result{};
    EXPECT_EQ(ebb_op_run(context_, device_, ebb_op_find(name), inputs.data(), inputs.size(),
                         attributes.data(), attributes.size(), &result, 1, nullptr),
              EBB_OK)
        << ebb_last_error();
    return result.handle;
  }
  std::array<float, 3> read(ebb_handle handle) {
    std::array<float, 3> values{};
    EXPECT_EQ(ebb_tensor_read(context_, handle, values.data(), sizeof values), EBB_OK);
    return values;
  }
  ebb_status backward(ebb_handle output, ebb_handle wanted, ebb_handle* gradient) {
    return ebb_tape_backward(tape_, device_, &output, 1, nullptr, &wanted, 1, gradient);
  }

  ebb_tape tape_ = 0;
  ebb_handle x_ = 0;
};

TEST_F(CapiTape, GivesGradients) {
  ASSERT_EQ(ebb_tape_watch(tape_, x_), EBB_OK);
  const ebb_handle y = op("Multiply", {x_, x_});
  ebb_handle gradient = 0;
  ASSERT_EQ(backward(y, x_, &gradient), EBB_OK) << ebb_last_error();
  EXPECT_EQ(read(gradient), (std::array<float, 3>{2, 4, 6}));
  EXPECT_EQ(read(x_), (std::array<float, 3>{1, 2, 3})) << "what was given is not ended";
}

TEST_F(CapiTape, ByNameAnotherTensorOverTheSameMemoryIsAConstant) {
  const int64_t dim = 3;
  ebb_tensor_spec spec{};
  spec.size = sizeof spec;
  spec.dtype = EBB_FLOAT32;
  spec.rank = 1;
  spec.dims = &dim;
  ebb_handle same = 0;
  ASSERT_EQ(ebb_tensor_view(context_, x_, 0, &spec, &same), EBB_OK);
  for (const uint32_t flags : {0u, uint32_t{EBB_TAPE_BY_NAME}}) {
    ASSERT_EQ(ebb_tape_close(tape_), EBB_OK);
    ASSERT_EQ(ebb_tape_open_with(context_, flags, &tape_), EBB_OK) << ebb_last_error();
    ASSERT_EQ(ebb_tape_watch(tape_, x_), EBB_OK);
    const ebb_handle y = op("Multiply", {x_, same});
    ebb_handle gradient = 0;
    ASSERT_EQ(backward(y, x_, &gradient), EBB_OK) << ebb_last_error();
    const auto both = std::array<float, 3>{2, 4, 6}, one = std::array<float, 3>{1, 2, 3};
    EXPECT_EQ(read(gradient), flags == 0 ? both : one);
  }
  EXPECT_EQ(ebb_tape_open_with(context_, 4, &tape_), EBB_INVALID_ARGUMENT);
}

TEST_F(CapiTape, OfTensorFlowJsGradientsAreItsWhereItHasOthers) {
  const ebb_handle x = vector({0, 7, 7});
  const std::pair<const char*, std::array<std::array<float, 3>, 2>> expected[] = {
      {"Abs", {{{0, 1, 1}, {-1, 1, 1}}}}, {"Max", {{{0, 0.5, 0.5}, {0, 1, 1}}}}};
  for (const auto& [name, slopes] : expected) {
    for (const uint32_t flags : {0u, uint32_t{EBB_TAPE_OF_TENSORFLOW_JS}}) {
      ASSERT_EQ(ebb_tape_close(tape_), EBB_OK);
      ASSERT_EQ(ebb_tape_open_with(context_, flags, &tape_), EBB_OK) << ebb_last_error();
      ASSERT_EQ(ebb_tape_watch(tape_, x), EBB_OK);
      const std::vector<double> axes =
          std::string_view(name) == "Max" ? std::vector<double>{1, 0, 0} : std::vector<double>{};
      ebb_handle gradient = 0;
      ASSERT_EQ(backward(op(name, {x}, axes), x, &gradient), EBB_OK) << ebb_last_error();
      EXPECT_EQ(read(gradient), slopes[flags == 0 ? 0 : 1]) << name << ", flags " << flags;
    }
  }
}

// The other way round than usual: the outer one is passed first.
TEST_F(CapiTape, AnInnerOneHearsTheWayBackOfTheOuter) {
  for (const uint32_t flags : {0u, uint32_t{EBB_TAPE_BY_NAME}}) {
    ASSERT_EQ(ebb_tape_close(tape_), EBB_OK);
    ASSERT_EQ(ebb_tape_open_with(context_, flags, &tape_), EBB_OK);
    ebb_tape inner = 0;
    ASSERT_EQ(ebb_tape_open_with(context_, flags, &inner), EBB_OK);
    ASSERT_EQ(ebb_tape_watch(tape_, x_), EBB_OK);
    ASSERT_EQ(ebb_tape_watch(inner, x_), EBB_OK);
    const ebb_handle y = op("Tanh", {x_});  // whose gradient keeps the result
    ebb_handle slope = 0, bend = 0;
    ASSERT_EQ(backward(y, x_, &slope), EBB_OK) << ebb_last_error();
    ASSERT_EQ(ebb_tape_backward(inner, device_, &slope, 1, nullptr, &x_, 1, &bend), EBB_OK);
    ASSERT_NE(bend, 0u) << "flags " << flags;
    const std::array<float, 3> values = read(y), bends = read(bend);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(bends[i], -2 * values[i] * (1 - values[i] * values[i]), 1e-5);
    }
    EXPECT_EQ(ebb_tape_close(inner), EBB_OK);
  }
}

TEST_F(CapiTape, GivesNoneWhereThereIsNoWay) {
  ASSERT_EQ(ebb_tape_watch(tape_, x_), EBB_OK);
  ebb_handle gradient = 7;
  ASSERT_EQ(backward(op("Floor", {x_}), x_, &gradient), EBB_OK);
  EXPECT_EQ(gradient, 0u);
}

TEST_F(CapiTape, RefusesWhatCannotBe) {
  ebb_handle gradient = 0;
  EXPECT_EQ(ebb_tape_open(context_, nullptr), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_tape_open(12345, &tape_), EBB_STALE_HANDLE);
  EXPECT_EQ(ebb_tape_watch(tape_, 0), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_tape_watch(tape_ + 1000, x_), EBB_STALE_HANDLE);
  EXPECT_EQ(ebb_tape_watch(tape_, 0xdeadbeef), EBB_STALE_HANDLE);
  EXPECT_EQ(backward(x_, x_, &gradient), EBB_INVALID_ARGUMENT) << "it is not watched";
  EXPECT_EQ(backward(x_, x_, nullptr), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_tape_backward(tape_, device_, nullptr, 1, nullptr, &x_, 1, &gradient),
            EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_tape_backward(tape_, 999, &x_, 1, nullptr, &x_, 1, &gradient), EBB_STALE_HANDLE);
  EXPECT_EQ(ebb_tape_backward(tape_, device_, &x_, SIZE_MAX, nullptr, &x_, 1, &gradient),
            EBB_INVALID_ARGUMENT);
  ebb_device_options foreign{};
  foreign.size = sizeof foreign;
  foreign.kind = EBB_DEVICE_FOREIGN;
  foreign.name = "capi tape's runtime";
  ebb_device runtime = 0;
  ASSERT_EQ(ebb_device_open(&foreign, &runtime), EBB_OK);
  ASSERT_EQ(ebb_tape_watch(tape_, x_), EBB_OK);
  EXPECT_EQ(ebb_tape_backward(tape_, runtime, &x_, 1, nullptr, &x_, 1, &gradient),
            EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_tape_backward(tape_, device_, &x_, 1, nullptr, &x_, 1, &gradient), EBB_OK)
      << "it has not been passed yet";
  EXPECT_EQ(ebb_device_close(runtime), EBB_OK);
  std::thread([&] {
    EXPECT_EQ(ebb_tape_stop(tape_), EBB_STALE_HANDLE) << "it is this thread's";
    EXPECT_EQ(ebb_tape_close(tape_), EBB_OK) << "nothing happens";
  }).join();
  EXPECT_EQ(ebb_tape_stop(tape_), EBB_OK);
  EXPECT_EQ(ebb_tape_close(tape_), EBB_OK);
  EXPECT_EQ(ebb_tape_close(tape_), EBB_OK);
  EXPECT_EQ(ebb_tape_stop(tape_), EBB_STALE_HANDLE);
}

TEST_F(CapiTape, SurvivesItsContextAndItsThread) {
  ASSERT_EQ(ebb_tape_watch(tape_, x_), EBB_OK);
  op("Exp", {x_});
  std::thread([&] {
    ebb_tape left = 0;
    ASSERT_EQ(ebb_tape_open(context_, &left), EBB_OK);
    ASSERT_EQ(ebb_tape_watch(left, x_), EBB_OK);
    op("Exp", {x_});
  }).join();
  ebb_context_options options{};
  options.size = sizeof options;
  ASSERT_EQ(ebb_context_destroy(context_), EBB_OK);
  ebb_handle gradient = 0;
  EXPECT_EQ(backward(x_, x_, &gradient), EBB_STALE_HANDLE);
  ASSERT_EQ(ebb_context_create(&options, &context_), EBB_OK);
}

}  // namespace
