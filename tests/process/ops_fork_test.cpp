// The child of a fork computes, also where its parent's team and oneDNN were in use before.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "process/child.hpp"
#include "process/ops_work.hpp"
#include "support/audited.hpp"

namespace ebb::test {
namespace {

constexpr unsigned kSeconds = 60;

int compute() { return adds() && multiplies() && convolves() ? 0 : 1; }

TEST(Fork, LeavesAChildThatComputes) {
  Session session;
  ASSERT_EQ(compute(), 0);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(in_forked_child(kSeconds, compute), 0);
    EXPECT_EQ(compute(), 0) << "in the parent";
  }
}

TEST(Fork, LeavesAChildWhoseThreadsCompute) {
  Session session;
  ASSERT_EQ(compute(), 0);
  const auto on_threads = [] {
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          Session own;
          wrong += compute();
        });
      }
    }
    return wrong.load();
  };
  EXPECT_EQ(in_forked_child(kSeconds, on_threads), 0);
}

TEST(Fork, LeavesAGrandchildThatComputes) {
  Session session;
  ASSERT_EQ(compute(), 0);
  EXPECT_EQ(
      in_forked_child(kSeconds, [] { return compute() + in_forked_child(kSeconds, compute); }), 0);
}

}  // namespace
}  // namespace ebb::test
