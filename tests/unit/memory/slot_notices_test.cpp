// Slots and the marks that death notices leave beside them.
#include <gtest/gtest.h>

#include <vector>

#include "memory/slot_table.hpp"

namespace ebb {
namespace {

struct Item : SlotHeader<Item> {
  atomic<Item*> notice_link{nullptr};
};
using Table = SlotTable<Item>;
using Space = SlotSpace<Item>;
constexpr std::size_t kChunk = kChunkSlots;

std::vector<Item*> fill(Table& table, std::size_t count) {
  std::vector<Item*> slots;
  for (std::size_t i = 0; i < count; ++i) slots.push_back(&table.acquire());
  return slots;
}
void empty(Table& table, const std::vector<Item*>& slots) {
  for (Item* slot : slots) table.release(*slot);
}

TEST(SlotNotices, ASlotThatIsQueuedIsUsedAgain) {
  Table table;
  Item& item = table.acquire();
  const std::uint64_t name = item.name();
  EXPECT_EQ(Space::mark(name), &item);
  EXPECT_TRUE(Space::is_noticed(item));
  EXPECT_EQ(table.find(name), &item);  // a notice does not make it stale
  table.release(item);
  EXPECT_EQ(table.find(name), nullptr);
  EXPECT_EQ(&table.acquire(), &item);
  EXPECT_FALSE(Space::is_noticed(item));
  EXPECT_EQ(Space::mark(item.name()), nullptr) << "the slot is on its way already";
  EXPECT_TRUE(Space::is_noticed(item));
  EXPECT_TRUE(table.take_off(item)) << "and both notices arrive with it";
  table.release(item);
  EXPECT_FALSE(table.has_notices());
}

TEST(SlotNotices, NothingIsMarkedByTheNameOfAFreeSlot) {
  Table table;
  Item& item = table.acquire();
  table.release(item);
  EXPECT_EQ(Space::mark(item.name()), nullptr);  // as if it had a name
  EXPECT_FALSE(table.has_notices());
}

TEST(SlotNotices, ANoticeOfAnEndedRecordSaysNothingOfTheNext) {
  Table table;
  Item& item = table.acquire();
  EXPECT_EQ(Space::mark(item.name()), &item);
  table.release(item);
  EXPECT_TRUE(table.has_notices());
  EXPECT_EQ(&table.acquire(), &item);
  EXPECT_FALSE(table.take_off(item));
  EXPECT_EQ(Space::mark(item.name()), &item) << "it is not queued any more";
  EXPECT_TRUE(table.take_off(item));
  EXPECT_EQ(Space::mark(item.name()), nullptr) << "noticed before";
  Space::forget_notice(item);
  EXPECT_FALSE(Space::is_noticed(item));
  table.release(item);
  EXPECT_FALSE(table.has_notices());
}

// ---- chunks with slots that are queued

TEST(SlotNotices, AChunkWithAQueuedSlotStaysUntilThatIsTakenOff) {
  Table table;
  const auto slots = fill(table, 6 * kChunk);
  std::vector<Item*> queued;
  // Not in the first one, which is the spare then.
  for (const std::size_t i : {kChunk + 40, 2 * kChunk - 40, 2 * kChunk + 40}) {
    queued.push_back(slots[i]);
    ASSERT_EQ(Space::mark(slots[i]->name()), slots[i]);
  }
  empty(table, slots);
  EXPECT_EQ(table.chunks(), 4u) << "current, spare and two with queued slots";
  EXPECT_EQ(Space::table_of(queued[0]->name()), &table);
  EXPECT_FALSE(table.take_off(*queued[0]));
  EXPECT_EQ(table.chunks(), 4u) << "another one is in that chunk";
  EXPECT_FALSE(table.take_off(*queued[1]));
  EXPECT_EQ(table.chunks(), 3u);
  EXPECT_TRUE(table.has_notices());
  EXPECT_FALSE(table.take_off(*queued[2]));
  EXPECT_EQ(table.chunks(), 2u);
  EXPECT_FALSE(table.has_notices());
}

TEST(SlotNotices, AChunkThatStaysForAQueuedSlotIsUsedAgain) {
  Table table;
  auto slots = fill(table, 4 * kChunk);
  Item& queued = *slots[kChunk + 40];
  ASSERT_EQ(Space::mark(queued.name()), &queued);
  empty(table, slots);
  ASSERT_EQ(table.chunks(), 3u);
  slots = fill(table, 3 * kChunk);
  EXPECT_EQ(table.chunks(), 3u);
  EXPECT_FALSE(table.take_off(queued));
  EXPECT_EQ(table.chunks(), 3u) << "there are records in it";
  empty(table, slots);
  EXPECT_LE(table.chunks(), 2u);
}

// In the child of a fork: what was on its way to a slot of another table's, or of nobody's, never comes.
TEST(SlotNotices, MarksThatNobodyTakesBackAreForgotten) {
  std::uint64_t name = 0;
  {
    Table table;
    Item& item = table.acquire();
    name = item.name();
    ASSERT_EQ(Space::mark(name), &item);
    table.release(item);
    table.clear();  // as if the mark had come later
  }
  ASSERT_EQ(Space::table_of(name), nullptr);
  Space::forget_marks_of_nobody();
  Table next;
  const auto slots = fill(next, kChunk - 8);
  int relinked = 0;
  next.for_each_queued([&](Item&) { ++relinked; });
  EXPECT_EQ(relinked, 0);
  ASSERT_EQ(Space::mark(slots[0]->name()), slots[0]);
  next.for_each_queued([&](Item& slot) { relinked += &slot == slots[0] ? 1 : 100; });
  EXPECT_EQ(relinked, 1);
  empty(next, slots);
  EXPECT_FALSE(next.take_off(*slots[0]));
}

TEST(SlotNotices, AMarkOfAnEarlierTableOnASlotThatIsNotUsedYetIsForgotten) {
  Table table;
  std::uint64_t name = 0;
  {
    Table before;
    const auto slots = fill(before, kChunk - 8);
    name = slots.back()->name();
    ASSERT_NE(Space::mark(name), nullptr);
    empty(before, slots);
  }
  Item& first = table.acquire();
  ASSERT_EQ(Space::table_of(name), &table);
  table.for_each_queued([](Item&) { ADD_FAILURE(); });
  table.release(first);
  EXPECT_FALSE(table.has_notices());
}

}  // namespace
}  // namespace ebb
