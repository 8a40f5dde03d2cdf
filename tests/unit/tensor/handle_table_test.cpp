#include "tensor/handle_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ebb::test {
namespace {

class HandleTableTest : public testing::Test {
 protected:
  ~HandleTableTest() override {
    while (table.take_notices(100)) {
    }
    for (TensorRecord* record : made) {
      if (record->live()) table.end(*record);
    }
    EXPECT_EQ(table.live(), 0u);
    EXPECT_FALSE(table.has_notices());
  }

  TensorRecord& make(Storage& storage) {
    TensorRecord& record = table.acquire();
    record.storage = &storage;
    record.flags = 0;
    made.push_back(&record);
    return record;
  }
  TensorRecord& make() { return make(own); }
  TensorRecord& hold() {
    TensorRecord& record = make();
    record.flags = TensorRecord::kHold;
    return record;
  }
  std::byte memory{};
  Storage own, foreign;
  HandleTable table{nullptr};
  std::vector<TensorRecord*> made;

  HandleTableTest() { own.block.data = &memory; }
};

TEST_F(HandleTableTest, FindsTensorsAndTellsHoldsFromThem) {
  TensorRecord& tensor = make();
  TensorRecord& held = hold();
  EXPECT_EQ(table.find_tensor(tensor.name()), &tensor);
  EXPECT_EQ(table.find_tensor(held.name()), nullptr);
  EXPECT_EQ(table.find(held.name()), &held);
  EXPECT_EQ(HandleTable::of(held.name()), &table);
  const Handle name = tensor.name();
  table.end(tensor);
  EXPECT_EQ(table.find_tensor(name), nullptr);
  EXPECT_TRUE(HandleTable::has_ended(name));
  EXPECT_EQ(table.find_ended(name), &tensor);
}

TEST_F(HandleTableTest, ANoticeIsKeptInTheListOfItsKind) {
  TensorRecord &mine = make(), &theirs = make(foreign);
  HandleTable::notice(mine.name());
  HandleTable::notice(theirs.name());
  EXPECT_TRUE(table.orphans().noticed());
  EXPECT_EQ(table.orphans().waiting(), 0u);
  EXPECT_FALSE(table.take_notices(100));
  EXPECT_EQ(table.orphans().waiting(), 2u);
  EXPECT_EQ(table.orphans().first_kept(false), &mine);
  EXPECT_EQ(table.orphans().first_kept(true), &theirs);
}

TEST_F(HandleTableTest, NoMoreAreTakenThanAskedFor) {
  for (int i = 0; i < 5; ++i) HandleTable::notice(make().name());
  EXPECT_TRUE(table.take_notices(3));
  EXPECT_EQ(table.orphans().waiting(), 3u);
  EXPECT_FALSE(table.take_notices(3));
  EXPECT_EQ(table.orphans().waiting(), 5u);
}

TEST_F(HandleTableTest, StaleForgedAndSecondNoticesDoNothing) {
  TensorRecord& record = make();
  const Handle name = record.name();
  HandleTable::notice(name);
  HandleTable::notice(name);
  table.take_notices(10);
  HandleTable::notice(name);
  EXPECT_FALSE(table.orphans().noticed());
  EXPECT_EQ(table.orphans().waiting(), 1u);
  table.end(record);
  HandleTable::notice(name);
  for (const Handle forged : {Handle{0}, ~Handle{0}, name + (Handle{1} << kSlotIndexBits),
                              name + (Handle{2} << kSlotIndexBits), name | kSlotIndexMask}) {
    HandleTable::notice(forged);
  }
  EXPECT_FALSE(table.orphans().noticed());
}

TEST_F(HandleTableTest, TheLastRecordOfASlotIsNoticedToo) {
  TensorRecord& slot = make();
  table.end(slot);
  slot.word.store(kLastGeneration - 1);
  TensorRecord& last = make();
  ASSERT_EQ(&last, &slot);
  ASSERT_EQ(last.generation(), kLastGeneration);
  HandleTable::notice(last.name());
  EXPECT_TRUE(HandleTable::is_noticed(last));
  EXPECT_EQ(table.orphans().pop(), &last);
  EXPECT_TRUE(table.take_off(last));
  table.end(last);
}

TEST_F(HandleTableTest, ANoticeForAHoldIsForgotten) {
  TensorRecord& held = hold();
  HandleTable::notice(held.name());
  table.take_notices(10);
  EXPECT_EQ(table.orphans().waiting(), 0u);
  EXPECT_FALSE(HandleTable::is_noticed(held));
  EXPECT_TRUE(held.live());
}

TEST_F(HandleTableTest, OneThatEndsInTheQueueLeavesItsSlotToTheNext) {
  TensorRecord& record = make();
  const Handle name = record.name();
  HandleTable::notice(name);
  table.end(record);
  EXPECT_EQ(table.find(name), nullptr);
  EXPECT_EQ(&make(), &record);
  EXPECT_FALSE(HandleTable::is_noticed(record));
  table.take_notices(10);
  EXPECT_EQ(table.orphans().waiting(), 0u) << "the notice was the first one's";
  HandleTable::notice(record.name());
  table.take_notices(10);
  EXPECT_EQ(table.orphans().first_kept(false), &record);
}

TEST_F(HandleTableTest, TheNextInASlotThatIsQueuedIsNoticedToo) {
  TensorRecord& record = make();
  HandleTable::notice(record.name());
  table.end(record);
  ASSERT_EQ(&make(), &record);
  HandleTable::notice(record.name());
  EXPECT_TRUE(HandleTable::is_noticed(record));
  EXPECT_FALSE(table.take_notices(10));
  EXPECT_EQ(table.orphans().waiting(), 1u);
  EXPECT_FALSE(table.orphans().noticed()) << "it was there once";
}

TEST_F(HandleTableTest, OneThatEndsWhileItWaitsIsTakenOutOfItsList) {
  TensorRecord &first = make(), &second = make();
  HandleTable::notice(first.name());
  HandleTable::notice(second.name());
  table.take_notices(10);
  table.end(first);
  EXPECT_EQ(table.orphans().waiting(), 1u);
  EXPECT_EQ(table.orphans().first_kept(false), &second);
}

TEST_F(HandleTableTest, OneThatIsGivenBackFromTheQueueIsFreeAtOnce) {
  TensorRecord& record = make();
  HandleTable::notice(record.name());
  TensorRecord* popped = table.orphans().pop();
  ASSERT_EQ(popped, &record);
  EXPECT_TRUE(table.take_off(*popped));
  table.end(*popped);
  EXPECT_EQ(&make(), &record);
}

// In the child of a fork: one notice had marked its slot and not linked it yet, and one slot was in the
// hands of a thread that had just taken it off.
TEST_F(HandleTableTest, GoingOnAloneFindsNoticesThatWereUnderWay) {
  TensorRecord &waits = make(), &before = make(), &taken = make(), &marked = make(),
               &ended = make();
  HandleTable::notice(waits.name());
  table.take_notices(10);
  HandleTable::notice(before.name());
  HandleTable::notice(ended.name());
  table.end(ended);
  HandleTable::notice(taken.name());
  ASSERT_EQ(HandleTable::Space::mark(marked.name()), &marked);
  ASSERT_EQ(table.orphans().pop(), &taken);
  table.go_on_alone();
  EXPECT_FALSE(table.take_notices(10));
  EXPECT_EQ(table.orphans().waiting(), 4u);
  EXPECT_FALSE(table.orphans().noticed());
}

}  // namespace
}  // namespace ebb::test
