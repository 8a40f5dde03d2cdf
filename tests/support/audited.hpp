// Include this in a test file and the law of the ledger is asserted after every test of the
// executable, together with what each test must leave behind: no context, no hold, reclaim and
// tracing off.
#pragma once

#include <gtest/gtest.h>

#include "ebb/base/error.hpp"
#include "ebb/memory/trace.hpp"
#include "ebb/tensor/context.hpp"

namespace ebb::test {

class AuditListener : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    try {
      Context::audit();
    } catch (const Error& error) {
      ADD_FAILURE() << test.name() << ": " << error.what();
    }
    const Books books = Context::total_memory().books;
    EXPECT_TRUE(books.balanced()) << test.name();
    EXPECT_EQ(books.live, 0u) << test.name() << " left a context open";
    EXPECT_EQ(books.held.count, 0u) << test.name() << " left a hold";
    EXPECT_FALSE(reclaiming()) << test.name();
    EXPECT_FALSE(trace::on()) << test.name();
  }
};

inline const bool audited = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new AuditListener);
  return true;
}();

}  // namespace ebb::test
