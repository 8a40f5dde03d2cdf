#include "memory/reclaim.hpp"

#include <gtest/gtest.h>

namespace ebb {
namespace {

struct Note : SlotHeader<Note> {
  atomic<Note*> notice_link{nullptr};
};

TEST(WaitingListTest, WaitsSinceTheOldestCame) {
  WaitingList<Note> list;
  Note a, b, c;
  EXPECT_EQ(list.since(), kNever);
  list.push(a, 5);
  list.push(b, 9);  // a later one does not make it younger
  EXPECT_EQ(list.since(), 5u);
  list.push(c, 3);
  EXPECT_EQ(list.since(), 3u);
  for (Note* each : {&b, &a, &c}) list.remove(*each);
  EXPECT_EQ(list.first(), nullptr);
  EXPECT_EQ(list.since(), kNever);
}

}  // namespace
}  // namespace ebb
