#include "ebb/memory/site_table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace ebb {
namespace {

TEST(SiteTable, TheSameTextIsTheSameSite) {
  SiteTable table;
  const SiteId a = table.intern("at f\nat g");
  EXPECT_NE(a, 0u);
  EXPECT_EQ(table.intern(std::string("at f\nat g")), a);
  EXPECT_NE(table.intern("at f"), a);
  EXPECT_EQ(table.text(a), "at f\nat g");
  EXPECT_EQ(table.size(), 2u);
}

TEST(SiteTable, EmptyIsUnknown) {
  SiteTable table;
  EXPECT_EQ(table.intern(""), 0u);
  EXPECT_EQ(table.text(0), "");
  EXPECT_EQ(table.text(7), "");
  EXPECT_TRUE(table.knows(0));
  EXPECT_FALSE(table.knows(1));
}

TEST(SiteTable, TextsStayWhereTheyAre) {
  SiteTable table;
  const std::string_view first = table.text(table.intern("short"));
  for (int i = 0; i < 1000; ++i) table.intern(std::to_string(i));
  EXPECT_EQ(first, "short");
  EXPECT_EQ(table.text(1).data(), first.data());
  EXPECT_EQ(table.text(table.intern("999")), "999");
}

TEST(SiteTable, ThreadsAgree) {
  SiteTable table;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const std::string text = "site " + std::to_string(i);
        EXPECT_EQ(table.text(table.intern(text)), text);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(table.size(), 200u);
}

TEST(FirstFrame, IsTheFirstLine) {
  EXPECT_EQ(first_frame("at f\nat g"), "at f");
  EXPECT_EQ(first_frame("at f"), "at f");
  EXPECT_EQ(first_frame(""), "");
  EXPECT_EQ(first_frame("\nat g"), "");
}

}  // namespace
}  // namespace ebb
