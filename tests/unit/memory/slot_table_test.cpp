#include "memory/slot_table.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <unordered_set>
#include <vector>

namespace ebb {
namespace {

struct Item : SlotHeader<Item> {
  int value = 0;
};
using Table = SlotTable<Item>;
using Space = SlotSpace<Item>;
constexpr std::size_t kChunk = Space::kChunkSlots;

// As if the slot had lived so often that its next record is its last.
void age(Item& slot) { slot.word.store((kLastGeneration - 1) << 1); }

std::vector<Item*> fill(Table& table, std::size_t count) {
  std::vector<Item*> slots;
  for (std::size_t i = 0; i < count; ++i) slots.push_back(&table.acquire());
  return slots;
}
void empty(Table& table, const std::vector<Item*>& slots) {
  for (Item* slot : slots) table.release(*slot);
}

TEST(SlotTable, FindsWhatItMade) {
  Table table;
  Item& item = table.acquire();
  item.value = 7;
  EXPECT_EQ(table.find(item.name()), &item);
  EXPECT_FALSE(table.has_ended(item.name()));
  EXPECT_EQ(table.live(), 1u);
  table.release(item);
  EXPECT_EQ(table.live(), 0u);
}

TEST(SlotTable, AStaleNameIsDetectedAlsoWhenTheSlotIsUsedAgain) {
  Table table;
  Item& item = table.acquire();
  const std::uint64_t name = item.name();
  EXPECT_TRUE(table.release(item));
  EXPECT_EQ(table.find(name), nullptr);
  EXPECT_TRUE(table.has_ended(name));
  Item& again = table.acquire();
  ASSERT_EQ(&again, &item);  // last out, first in
  EXPECT_NE(again.name(), name);
  EXPECT_EQ(table.find(name), nullptr);
  EXPECT_TRUE(table.has_ended(name));
  EXPECT_FALSE(table.has_ended(again.name()));
  table.release(again);
}

TEST(SlotTable, NamesThatNeverWere) {
  Table table;
  Item& item = table.acquire();
  const std::uint64_t name = item.name();
  const std::uint64_t later = name + (std::uint64_t{2} << kSlotIndexBits);
  const std::uint64_t even = name - (std::uint64_t{1} << kSlotIndexBits);
  for (const std::uint64_t never : {std::uint64_t{0}, ~std::uint64_t{0}, later, even,
                                    name | std::uint64_t{1} << 60, name | kSlotIndexMask}) {
    EXPECT_EQ(table.find(never), nullptr) << never;
    EXPECT_FALSE(table.has_ended(never)) << never;
  }
  EXPECT_EQ(Space::instance().table_of(name | kSlotIndexMask), nullptr);
  EXPECT_EQ(Space::instance().table_of(name), &table);
  table.release(item);
}

TEST(SlotTable, RecordsStayWhereTheyAreWhileItGrows) {
  Table table;
  const auto slots = fill(table, 3 * kChunk + 1);
  EXPECT_EQ(table.chunk_count(), 4u);
  std::unordered_set<std::uint64_t> names;
  for (Item* slot : slots) {
    names.insert(slot->name());
    EXPECT_EQ(table.find(slot->name()), slot);
  }
  EXPECT_EQ(names.size(), slots.size());
  empty(table, slots);
}

TEST(SlotTable, ASlotIsRetiredAfterItsLastGeneration) {
  Table table;
  Item* slot = &table.acquire();
  table.release(*slot);
  age(*slot);
  Item& last = table.acquire();
  ASSERT_EQ(&last, slot);
  EXPECT_EQ(last.generation(), kLastGeneration);
  const std::uint64_t name = last.name();
  EXPECT_LT(name, std::uint64_t{1} << 53);
  EXPECT_EQ(table.find(name), &last);
  table.release(last);
  EXPECT_EQ(table.find(name), nullptr);
  EXPECT_TRUE(table.has_ended(name));
  for (Item* other : fill(table, kChunk)) {
    EXPECT_NE(other, slot);
    table.release(*other);
  }
}

TEST(SlotTable, ARetiredSlotStaysRetiredInTheNextTable) {
  Item* slot = nullptr;
  {
    Table table;
    slot = &table.acquire();
    table.release(*slot);
    age(*slot);
    ASSERT_EQ(&table.acquire(), slot);
    table.release(*slot);
  }
  Table next;
  const auto slots = fill(next, 2 * kChunk);
  EXPECT_EQ(std::set<Item*>(slots.begin(), slots.end()).count(slot), 0u);
  empty(next, slots);
}

TEST(SlotTable, TheNextTableTakesTheChunksOver) {
  std::vector<std::uint64_t> names;
  const Item* first = nullptr;
  {
    Table table;
    first = &table.acquire();
    names.push_back(first->name());
    table.release(const_cast<Item&>(*first));
    EXPECT_EQ(table.chunk_count(), 1u);
  }
  EXPECT_EQ(Space::instance().table_of(names[0]), nullptr);
  Table next;
  const auto slots = fill(next, kChunk);
  EXPECT_EQ(next.chunk_count(), 1u);
  EXPECT_EQ(Space::instance().table_of(names[0]), &next);
  EXPECT_EQ(next.find(names[0]), nullptr);
  for (Item* slot : slots) EXPECT_NE(slot->name(), names[0]);
  empty(next, slots);
}

TEST(SlotTable, TablesDoNotFindEachOthersRecords) {
  Table a, b;
  Item& of_a = a.acquire();
  Item& of_b = b.acquire();
  EXPECT_EQ(a.find(of_b.name()), nullptr);
  EXPECT_EQ(b.find(of_a.name()), nullptr);
  EXPECT_FALSE(a.has_ended(of_b.name()));
  a.release(of_a);
  b.release(of_b);
}

TEST(SlotTable, AQueuedSlotWaitsForItsRecycling) {
  Table table;
  Item& item = table.acquire();
  const std::uint64_t name = item.name();
  item.word.fetch_or(1);
  EXPECT_TRUE(item.queued());
  EXPECT_EQ(table.find(name), &item);  // a notice does not make it stale
  EXPECT_FALSE(table.release(item));
  EXPECT_EQ(table.find(name), nullptr);
  Item& other = table.acquire();
  EXPECT_NE(&other, &item);
  table.recycle(item);
  EXPECT_FALSE(item.queued());
  EXPECT_EQ(&table.acquire(), &item);
  table.release(other);
  table.release(item);
}

TEST(SlotTableDeathTest, ATableWithRecordsDoesNotEnd) {
  EXPECT_DEATH(
      {
        Table table;
        table.acquire();
      },
      "live_ == 0");
}

}  // namespace
}  // namespace ebb
