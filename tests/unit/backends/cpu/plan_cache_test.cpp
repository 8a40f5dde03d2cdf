#include "backends/cpu/plan_cache.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

namespace ebb::cpu {
namespace {

using Role = Plan::Role;

// [n,n] times [n,n], row by row.
Plan product(std::int64_t n) {
  const std::array<std::int64_t, 2> dims{n, n};
  const std::array<std::int64_t, 2> strides{n, 1};
  const DnnDesc a = desc_of(dims, strides);
  const DnnDesc weights = any_layout(dims);
  const DnnAttributes attr = attributes();
  const DnnPrimitiveDesc desc = describe("a product", dnn().matmul_primitive_desc_create, a.get(),
                                         weights.get(), nullptr, a.get(), attr.get());
  std::vector<Plan::Argument> arguments;
  arguments.push_back({DNNL_ARG_SRC, Role::kInput, desc_of(dims, strides)});
  arguments.push_back({DNNL_ARG_WEIGHTS, Role::kInput, desc_of(dims, strides)});
  arguments.push_back({DNNL_ARG_DST, Role::kOutput, desc_of(dims, strides)});
  return Plan(desc, std::move(arguments), n < 64);
}

std::vector<float> run(Plan& plan, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> result(a.size());
  std::unique_ptr<void, decltype(&std::free)> workspace(
      std::aligned_alloc(64, plan.workspace_bytes() + 64), &std::free);
  const std::array<const void*, 3> data{a.data(), b.data(), result.data()};
  plan.run(data, workspace.get());
  return result;
}

// With the weights' layout left to oneDNN there are reorders around the product.
TEST(Plan, MultipliesThroughWhateverLayoutOneDnnChose) {
  for (const std::int64_t n : {1, 5, 32, 100}) {
    std::vector<float> a(static_cast<std::size_t>(n * n));
    std::iota(a.begin(), a.end(), 0.0F);
    std::vector<float> twice(a.size());
    for (std::int64_t i = 0; i < n; ++i) {
      twice[static_cast<std::size_t>(i * n + i)] = 2;
    }
    Plan plan = product(n);
    const std::vector<float> result = run(plan, a, twice);
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(result[i], 2 * a[i]) << n;
    }
  }
}

TEST(PlanCache, MakesEachPlanOnceAndGivesUpTheOldest) {
  PlanCache cache(2);
  std::vector<std::int64_t> made;
  const auto get = [&](std::int64_t n) {
    cache.get(PlanKey(0).add(n), [&] {
      made.push_back(n);
      return product(n);
    });
  };
  get(1);
  get(2);
  get(1);
  EXPECT_EQ(made, (std::vector<std::int64_t>{1, 2}));
  get(3);  // 2 is the oldest now
  EXPECT_EQ(cache.size(), 2U);
  get(1);
  EXPECT_EQ(made, (std::vector<std::int64_t>{1, 2, 3}));
  get(2);
  EXPECT_EQ(made, (std::vector<std::int64_t>{1, 2, 3, 2}));
}

TEST(PlanCache, KeepsNothingOfAPlanThatCouldNotBeMade) {
  PlanCache cache(2);
  EXPECT_THROW(cache.get(PlanKey(0), []() -> Plan { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_EQ(cache.size(), 0U);
}

TEST(PlanCache, TellsKeysApartByLengthAndOrder) {
  EXPECT_FALSE(PlanKey(1).add(2) == PlanKey(1).add(2).add(0));
  EXPECT_FALSE(PlanKey(1).add(2) == PlanKey(2).add(1));
  EXPECT_TRUE(PlanKey(1).add(2) == PlanKey(1).add(2));
}

TEST(PlanCache, IsEachThreadsOwn) {
  PlanCache* other = nullptr;
  std::thread([&] { other = &PlanCache::here(); }).join();
  EXPECT_NE(other, &PlanCache::here());
}

}  // namespace
}  // namespace ebb::cpu
