#include "memory/orphan_queue.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace ebb {
namespace {

struct Note : SlotHeader<Note> {};
using Queue = OrphanQueue<Note>;
using Push = Queue::Push;

class OrphanQueueTest : public testing::Test {
 protected:
  Note& make() { return table.acquire(); }
  // What an owner does with a slot off the queue.
  void take(Note* slot) {
    if (slot->live()) table.release(*slot);
    table.recycle(*slot);
  }
  SlotTable<Note> table;
  Queue queue;
};

TEST_F(OrphanQueueTest, GivesBackTheNewestFirst) {
  Note &a = make(), &b = make();
  EXPECT_FALSE(queue.noticed());
  EXPECT_EQ(queue.push(a, a.name()), Push::kFirst);
  EXPECT_EQ(queue.push(b, b.name()), Push::kTaken);
  EXPECT_TRUE(queue.noticed());
  EXPECT_EQ(queue.pop(), &b);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_FALSE(queue.noticed());
  take(&a);
  take(&b);
}

TEST_F(OrphanQueueTest, ASecondNoticeIsDropped) {
  Note& a = make();
  EXPECT_EQ(queue.push(a, a.name()), Push::kFirst);
  EXPECT_EQ(queue.push(a, a.name()), Push::kDropped);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_EQ(queue.push(a, a.name()), Push::kDropped);  // off the queue, not given back yet
  EXPECT_EQ(queue.pop(), nullptr);
  take(&a);
}

TEST_F(OrphanQueueTest, ANoticeForAStaleNameIsDropped) {
  Note& a = make();
  const std::uint64_t name = a.name();
  table.release(a);
  EXPECT_EQ(queue.push(a, name), Push::kDropped);
  Note& again = make();
  ASSERT_EQ(&again, &a);
  EXPECT_EQ(queue.push(again, name), Push::kDropped);
  EXPECT_FALSE(again.queued());
  EXPECT_FALSE(queue.noticed());
  table.release(again);
}

TEST_F(OrphanQueueTest, ARecordThatEndsWhileQueuedIsNotUsedAgainBefore) {
  Note& a = make();
  queue.push(a, a.name());
  EXPECT_FALSE(table.release(a));
  Note& b = make();
  EXPECT_NE(&b, &a);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_FALSE(a.live());
  EXPECT_TRUE(a.queued());
  table.recycle(a);
  EXPECT_EQ(&make(), &a);
  table.release(a);
  table.release(b);
}

TEST_F(OrphanQueueTest, NoticesThatComeWhileTheChainIsTakenFollowIt) {
  Note &a = make(), &b = make(), &c = make();
  queue.push(a, a.name());
  queue.push(b, b.name());
  EXPECT_EQ(queue.pop(), &b);
  EXPECT_EQ(queue.push(c, c.name()), Push::kFirst);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_EQ(queue.pop(), &c);
  EXPECT_EQ(queue.pop(), nullptr);
  for (Note* note : {&a, &b, &c}) take(note);
}

// A producer between its exchange and its link store: the node is in the chain, its link is not.
TEST_F(OrphanQueueTest, AnInterruptedProducerHoldsUpOnlyUntilItGoesOn) {
  Note &a = make(), &b = make(), &c = make();
  queue.push(a, a.name());
  queue.push(b, b.name());
  queue.push(c, c.name());
  Note* const link = b.link.load();
  Note* const pending = reinterpret_cast<Note*>(std::uintptr_t{1});
  b.link.store(pending);
  EXPECT_EQ(queue.pop(), &c);
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_TRUE(queue.noticed());  // or nobody would come back for them
  Note& d = make();
  queue.push(d, d.name());
  EXPECT_EQ(queue.pop(), nullptr);  // it keeps its place
  b.link.store(link);
  EXPECT_EQ(queue.pop(), &b);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_EQ(queue.pop(), &d);
  EXPECT_FALSE(queue.noticed());
  for (Note* note : {&a, &b, &c, &d}) take(note);
}

TEST_F(OrphanQueueTest, ManyProducersLoseNothing) {
  constexpr std::size_t kThreads = 4, kEach = 3000;
  std::vector<Note*> notes;
  for (std::size_t i = 0; i < kThreads * kEach; ++i) notes.push_back(&make());
  std::vector<std::thread> threads;
  std::atomic<std::size_t> taken{0};
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      // Each notice is given twice, by two threads.
      for (std::size_t i = 0; i < kEach; ++i) {
        for (const std::size_t at : {t * kEach + i, (t + 1) % kThreads * kEach + i}) {
          if (queue.push(*notes[at], notes[at]->name()) != Push::kDropped) ++taken;
        }
      }
    });
  }
  std::size_t popped = 0;
  while (popped < notes.size()) {
    if (queue.pop() != nullptr) ++popped;
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(taken, notes.size());
  EXPECT_FALSE(queue.noticed());
  for (Note* note : notes) take(note);
}

TEST_F(OrphanQueueTest, AnEndThatRacesItsNoticeIsSeenByExactlyOneSide) {
  for (int round = 0; round < 2000; ++round) {
    Note& note = make();
    const std::uint64_t name = note.name();
    std::thread producer([&] { queue.push(note, name); });
    const bool free = table.release(note);
    producer.join();
    Note* off = queue.pop();
    ASSERT_EQ(off == nullptr, free);
    if (off != nullptr) table.recycle(*off);
    ASSERT_EQ(queue.pop(), nullptr);
  }
  EXPECT_EQ(table.chunks(), 1u);
}

}  // namespace
}  // namespace ebb
