#include "memory/slot_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_set>
#include <vector>

namespace ebb {
namespace {

struct Item : SlotHeader<Item> {
  atomic<Item*> notice_link{nullptr};
  int value = 0;
};
using Table = SlotTable<Item>;
using Space = SlotSpace<Item>;
constexpr std::size_t kChunk = kChunkSlots;

// As if the slot had lived so often that its next record is its last.
void age(Item& slot) { slot.word.store(kLastGeneration - 1); }

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
  table.release(item);
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
  EXPECT_EQ(Space::table_of(name | kSlotIndexMask), nullptr);
  EXPECT_EQ(Space::table_of(name), &table);
  table.release(item);
}

TEST(SlotTable, RecordsStayWhereTheyAreWhileItGrows) {
  Table table;
  const auto slots = fill(table, 3 * kChunk + 1);
  EXPECT_EQ(table.chunks(), 4u);
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
    EXPECT_EQ(table.chunks(), 1u);
  }
  EXPECT_EQ(Space::table_of(names[0]), nullptr);
  Table next;
  const auto slots = fill(next, kChunk - 8);  // slots that other tests have worn out do not count
  EXPECT_EQ(next.chunks(), 1u);
  EXPECT_EQ(Space::table_of(names[0]), &next);
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

// ---- chunks that are idle

TEST(SlotTable, ChunksWithoutARecordGoBackButForTwo) {
  Table table;
  const std::size_t before = Space::stock().taken();
  const auto slots = fill(table, 8 * kChunk - 8);
  EXPECT_EQ(table.chunks(), 8u);
  EXPECT_EQ(Space::stock().taken(), before + 8);
  Item* const left = slots.back();
  for (Item* slot : slots) {
    if (slot != left) table.release(*slot);
  }
  EXPECT_LE(table.chunks(), 2u);  // the current one has the last record; a spare
  EXPECT_EQ(table.find(left->name()), left);
  table.release(*left);
}

TEST(SlotTable, ARecordKeepsItsChunkOnly) {
  Table table;
  const auto slots = fill(table, 4 * kChunk);
  std::vector<std::uint64_t> names;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (i % kChunk == 7 && i < 2 * kChunk) {
      names.push_back(slots[i]->name());
    } else {
      table.release(*slots[i]);
    }
  }
  for (const std::uint64_t name : names) EXPECT_NE(table.find(name), nullptr);
  EXPECT_LE(table.chunks(), 4u);
  EXPECT_GE(table.chunks(), 2u);
  for (const std::uint64_t name : names) table.release(*table.find(name));
  EXPECT_LE(table.chunks(), 2u);
}

TEST(SlotTable, AnotherTableTakesWhatOneHasGivenBackWhileBothLive) {
  Table first, second;
  const std::size_t made = Table::chunk_end();
  empty(first, fill(first, 6 * kChunk));
  const std::size_t most = Table::chunk_end();
  EXPECT_LE(most, std::max<std::size_t>(made, 6 + made));
  const auto slots = fill(second, 4 * kChunk);
  EXPECT_EQ(Table::chunk_end(), most) << "no new chunk was needed";
  empty(second, slots);
}

// All chunks that the stock keeps are used up first, so that those of `slots` lose their memory.
template <typename Use>
void with_memory_taken_away(Use use) {
  Table others;
  const auto kept = fill(others, (Space::stock().kKept + 2) * kChunk);
  Table table;
  auto slots = fill(table, 4 * kChunk);
  empty(others, kept);  // now the stock keeps these
  use(table, slots);
}

TEST(SlotTable, NamesAreStaleAlsoWhereTheMemoryWasGivenBack) {
  with_memory_taken_away([](Table& table, std::vector<Item*>& slots) {
    std::vector<std::uint64_t> names;
    for (const Item* slot : slots) names.push_back(slot->name());
    empty(table, slots);
    std::size_t zeros = 0;
    for (const std::uint64_t name : names) {
      zeros += Space::find_slot(name)->word.load() == 0 ? 1 : 0;
      EXPECT_TRUE(Space::has_ended(name));
      EXPECT_EQ(table.find(name), nullptr);
    }
    EXPECT_GE(zeros, 2 * kChunk) << "two chunks stay with the table";
  });
}

TEST(SlotTable, NoNameComesTwiceAlsoWhereTheMemoryWasGivenBack) {
  with_memory_taken_away([](Table& table, std::vector<Item*>& slots) {
    std::unordered_set<std::uint64_t> names;
    for (int round = 0; round < 5; ++round) {
      for (const Item* slot : slots) EXPECT_TRUE(names.insert(slot->name()).second);
      for (int i = 0; i < 100; ++i) {  // one is used more often than the others
        table.release(*slots.back());
        slots.back() = &table.acquire();
        EXPECT_TRUE(names.insert(slots.back()->name()).second || i == 0);
      }
      empty(table, slots);
      slots = fill(table, 4 * kChunk);
    }
    for (const std::uint64_t name : names) {
      EXPECT_EQ(table.find(name) == nullptr, Space::has_ended(name));
    }
    empty(table, slots);
  });
}

// More than the stock keeps as they are: some chunks come back empty.
TEST(SlotTable, NoNameComesTwiceAlsoInMemoryThatHasComeBack) {
  Table table;
  std::unordered_set<std::uint64_t> names;
  for (int round = 0; round < 2; ++round) {
    const auto all = fill(table, (Space::stock().kKept + 6) * kChunk);
    const auto twice = std::count_if(all.begin(), all.end(), [&](const Item* slot) {
      return !names.insert(slot->name()).second;
    });
    EXPECT_EQ(twice, 0);
    empty(table, all);
  }
}

TEST(SlotTable, ANoticeThatComesLateChangesNothing) {
  with_memory_taken_away([](Table& table, std::vector<Item*>& slots) {
    std::vector<std::uint64_t> names;
    for (const Item* slot : slots) names.push_back(slot->name());
    empty(table, slots);
    for (const std::uint64_t name : names) {
      EXPECT_EQ(Space::mark(name), nullptr);
    }
  });
}

TEST(SlotTable, WhereThereAreNoMoreNamesItSaysSoAndIsAsItWas) {
  Table table, other;
  const std::size_t most = Space::stock().most();
  Space::stock().set_most(Space::stock().taken() + 2);
  const auto slots = fill(table, 2 * kChunk);
  EXPECT_THROW(table.acquire(), NoRecord);
  EXPECT_THROW(other.acquire(), NoRecord);
  EXPECT_FALSE(table.reserve(nullptr));
  EXPECT_TRUE(Space::stock().crowded());
  EXPECT_EQ(table.live(), 2 * kChunk);
  table.release(*slots[0]);
  EXPECT_TRUE(table.reserve(nullptr));
  EXPECT_EQ(&table.acquire(), slots[0]);
  empty(table, slots);
  table.clear();
  EXPECT_NO_THROW(other.release(other.acquire()));
  Space::stock().set_most(most);
}

TEST(SlotTable, AChunkWithoutAnyNameLeftIsNobodys) {
  Table table;
  auto slots = fill(table, kChunk);
  empty(table, slots);
  for (Item* slot : slots) age(*slot);
  slots = fill(table, kChunk);
  const std::uint64_t name = slots[0]->name();
  empty(table, slots);
  Item& next = table.acquire();
  EXPECT_NE(index_of(next.name()) / kChunk, index_of(name) / kChunk);
  EXPECT_EQ(table.chunks(), 1u);
  EXPECT_TRUE(Space::has_ended(name));
  EXPECT_EQ(Space::table_of(name), nullptr);
  table.release(next);
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
