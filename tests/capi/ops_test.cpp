// Operations through the C ABI.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capi/capi_fixture.hpp"
#include "ebb.h"

namespace {

using CapiOps = CapiOpsTest;

// The first result is there when the second finds no room; while the host collects for it, another
// thread ends the context. What was made has ended with it.
TEST_F(CapiOps, MayBeUnderWayWhenTheirContextEnds) {
  constexpr std::size_t kMany = 400'000;  // 1.6 MB
  TestHost host;
  const ebb_context_options options = host.options("ending");
  const ebb_context kept = context_;
  ASSERT_OK(ebb_context_create(&options, &context_));
  const ebb_context ending = std::exchange(context_, kept);
  ebb_reclaim_set(1);
  EXPECT_OK(ebb_device_set_budget(device_, 4 << 20, EBB_BUDGET_HARD));
  std::vector<std::thread> others;
  host.in_collect = [&] {
    if (!others.empty()) return;
    others.emplace_back([&] { EXPECT_OK(ebb_context_destroy(ending)); });
    std::thread([&] {
      auto memory = sized<ebb_memory>();
      while (ebb_memory_read(ending, 0, &memory) == EBB_OK) std::this_thread::yield();
    }).join();
  };
  context_ = ending;
  const ebb_handle x = vector(std::vector<float>(kMany, 1.0f));
  context_ = kept;
  const double attributes[] = {kMany, 1};
  std::array<ebb_op_result, 2> results{};
  const ebb_status status = ebb_op_run(ending, device_, ebb_op_find("TopK"), &x, 1, attributes, 2,
                                       results.data(), results.size(), nullptr);
  for (std::thread& each : others) each.join();
  ebb_reclaim_set(0);
  if (status == EBB_UNSUPPORTED) {  // a build without kernels
    EXPECT_OK(ebb_context_destroy(ending));
    return;
  }
  EXPECT_EQ(status, EBB_STALE_HANDLE) << ebb_last_error();
  EXPECT_FALSE(others.empty()) << "nobody collected";
}

// A host never sees the strides unless it asks for them.
TEST_F(CapiOps, ViewsAreReadHeldAndReshapedInRowMajorOrder) {
  const ebb_handle x = vector({0, 1, 2, 3, 4, 5});
  ebb_op_result matrix{}, turned{};
  const double shape[] = {2, 2, 3}, perm[] = {2, 1, 0};
  ASSERT_EQ(
      ebb_op_run(context_, device_, ebb_op_find("Reshape"), &x, 1, shape, 3, &matrix, 1, nullptr),
      EBB_OK);
  const auto transpose = [&] {
    return ebb_op_run(context_, device_, ebb_op_find("Transpose"), &matrix.handle, 1, perm, 3,
                      &turned, 1, nullptr);
  };
  const std::array<float, 6> expected{0, 3, 1, 4, 2, 5};
  ASSERT_EQ(transpose(), EBB_OK);
  ebb_tensor_info info{};
  info.size = sizeof info;
  ASSERT_EQ(ebb_tensor_describe(context_, turned.handle, &info), EBB_OK);
  EXPECT_EQ(info.strided, 1u);
  EXPECT_EQ(info.strides[0], 1);
  EXPECT_EQ(info.strides[1], 3);
  EXPECT_EQ(info.bytes, 24u);
  std::array<float, 6> values{};
  EXPECT_EQ(ebb_tensor_read(context_, turned.handle, values.data(), 24), EBB_OK);
  EXPECT_EQ(values, expected);

  ebb_hold hold = 0;
  void* data = nullptr;
  ASSERT_EQ(ebb_hold_acquire(context_, turned.handle, &hold), EBB_OK);
  ASSERT_EQ(ebb_hold_data(context_, hold, &data, nullptr), EBB_OK);
  EXPECT_EQ(std::memcmp(data, expected.data(), 24), 0);
  EXPECT_EQ(ebb_hold_release(context_, hold), EBB_OK);
  ASSERT_EQ(ebb_tensor_describe(context_, turned.handle, &info), EBB_OK);
  EXPECT_EQ(info.strided, 0u);
  EXPECT_EQ(info.strides[0], 2);

  ASSERT_EQ(transpose(), EBB_OK);
  const int64_t six = 6;
  ebb_tensor_spec spec{};
  spec.size = sizeof spec;
  spec.dtype = EBB_FLOAT32;
  spec.rank = 1;
  spec.dims = &six;
  ebb_handle flat = 0;
  ASSERT_EQ(ebb_tensor_view(context_, turned.handle, 0, &spec, &flat), EBB_OK);
  EXPECT_EQ(ebb_tensor_read(context_, flat, values.data(), 24), EBB_OK);
  EXPECT_EQ(values, expected);
  EXPECT_EQ(ebb_tensor_read(context_, x, values.data(), 24), EBB_OK);
  EXPECT_EQ(values, (std::array<float, 6>{0, 1, 2, 3, 4, 5})) << "the base is as it was";
}

TEST_F(CapiOps, AddsTwoVectors) {
  const ebb_handle inputs[] = {vector({1, 2, 3}), vector({10, 20, 30})};
  ebb_op_result result{};
  std::size_t count = 0;
  const ebb_status status =
      ebb_op_run(context_, device_, ebb_op_find("Add"), inputs, 2, nullptr, 0, &result, 1, &count);
  if (status == EBB_UNSUPPORTED) GTEST_SKIP() << ebb_last_error();
  ASSERT_EQ(status, EBB_OK) << ebb_last_error();
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(result.dtype, static_cast<uint32_t>(EBB_FLOAT32));
  EXPECT_EQ(result.rank, 1u);
  EXPECT_EQ(result.shape[0], 3);
  std::array<float, 3> sums{};
  ASSERT_EQ(ebb_tensor_read(context_, result.handle, sums.data(), sizeof sums), EBB_OK);
  EXPECT_EQ(sums, (std::array<float, 3>{11, 22, 33}));
}

TEST_F(CapiOps, ManyResults) {
  const ebb_handle x = vector({1, 2, 3, 4, 5, 6});
  const double attributes[] = {6, 1, 1, 1, 1, 1, 1, 0};
  std::array<ebb_op_result, 6> results{};
  std::size_t count = 0;
  const ebb_status status = ebb_op_run(context_, device_, ebb_op_find("SplitV"), &x, 1, attributes,
                                       8, results.data(), results.size(), &count);
  if (status == EBB_UNSUPPORTED) GTEST_SKIP() << ebb_last_error();
  ASSERT_EQ(status, EBB_OK) << ebb_last_error();
  ASSERT_EQ(count, 6u);
  float last = 0;
  ASSERT_EQ(ebb_tensor_read(context_, results[5].handle, &last, 4), EBB_OK);
  EXPECT_EQ(last, 6);
}

TEST_F(CapiOps, ViewsNeedNoKernel) {
  const ebb_handle x = vector({1, 2, 3, 4});
  const double shape[] = {2, 2, 2};
  ebb_op_result result{};
  ASSERT_EQ(
      ebb_op_run(context_, device_, ebb_op_find("Reshape"), &x, 1, shape, 3, &result, 1, nullptr),
      EBB_OK);
  EXPECT_EQ(result.rank, 2u);
}

TEST_F(CapiOps, ErrorsHaveNames) {
  const ebb_handle x = vector({1, 2});
  ebb_op_result result{};
  EXPECT_EQ(ebb_op_run(context_, device_, 0, &x, 1, nullptr, 0, &result, 1, nullptr),
            EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_op_run(context_, device_, ebb_op_find("Add"), nullptr, 2, nullptr, 0, &result, 1,
                       nullptr),
            EBB_INVALID_ARGUMENT);
  EXPECT_EQ(
      ebb_op_run(context_, device_, ebb_op_find("Add"), &x, 1, nullptr, 0, &result, 1, nullptr),
      EBB_INVALID_ARGUMENT);
  EXPECT_NE(std::string(ebb_last_error()).find("[Add] 1 inputs"), std::string::npos);
  EXPECT_EQ(ebb_op_run(context_, device_, ebb_op_find("Identity"), &x, 1, nullptr, 0, nullptr, 0,
                       nullptr),
            EBB_INVALID_ARGUMENT);
  ebb_tensor_dispose(context_, x);
  EXPECT_EQ(ebb_op_run(context_, device_, ebb_op_find("Identity"), &x, 1, nullptr, 0, &result, 1,
                       nullptr),
            EBB_STALE_HANDLE);
  EXPECT_EQ(ebb_tensor_read(context_, x, &result, 8), EBB_STALE_HANDLE);
}

TEST(CapiOpTable, FindsOperations) {
  EXPECT_NE(ebb_op_find("Relu"), 0u);
  EXPECT_EQ(ebb_op_find("NoSuch"), 0u);
  EXPECT_EQ(ebb_op_find(nullptr), 0u);
  EXPECT_GT(ebb_op_table_hash(), 0u);
  EXPECT_LE(ebb_op_table_hash(), uint64_t{1} << 53);
}

}  // namespace
