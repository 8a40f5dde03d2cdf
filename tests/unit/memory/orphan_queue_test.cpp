#include "memory/orphan_queue.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace ebb {
namespace {

struct Note : SlotHeader<Note> {
  atomic<Note*> notice_link{nullptr};
};
using Queue = OrphanQueue<Note>;
using Push = Queue::Push;

class OrphanQueueTest : public testing::Test {
 protected:
  Note& make() { return table.acquire(); }
  // What an owner does with a slot off the queue.
  void take(Note* slot) {
    if (table.take_off(*slot)) table.release(*slot);
  }
  SlotTable<Note> table;
  Queue queue;
};

TEST_F(OrphanQueueTest, GivesBackTheNewestFirst) {
  Note &a = make(), &b = make();
  EXPECT_FALSE(queue.noticed());
  EXPECT_EQ(queue.push(a.name()), Push::kFirst);
  EXPECT_EQ(queue.push(b.name()), Push::kTaken);
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
  EXPECT_EQ(queue.push(a.name()), Push::kFirst);
  EXPECT_EQ(queue.push(a.name()), Push::kDropped);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_EQ(queue.push(a.name()), Push::kDropped);  // off the queue, not given back yet
  EXPECT_EQ(queue.pop(), nullptr);
  take(&a);
}

TEST_F(OrphanQueueTest, ANoticeForAStaleNameIsDropped) {
  Note& a = make();
  const std::uint64_t name = a.name();
  table.release(a);
  EXPECT_EQ(queue.push(name), Push::kDropped);
  Note& again = make();
  ASSERT_EQ(&again, &a);
  EXPECT_EQ(queue.push(name), Push::kDropped);
  EXPECT_FALSE(SlotSpace<Note>::is_noticed(again));
  EXPECT_FALSE(queue.noticed());
  table.release(again);
}

TEST_F(OrphanQueueTest, ASlotIsQueuedOnceForAllItsRecords) {
  Note& a = make();
  Note& below = make();
  queue.push(below.name());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(queue.push(a.name()), i == 0 ? Push::kTaken : Push::kDropped);
    if (i == 2) break;
    table.release(a);
    ASSERT_EQ(&make(), &a);
  }
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_TRUE(table.take_off(a));
  EXPECT_EQ(queue.push(a.name()), Push::kDropped) << "of the third one, before";
  EXPECT_EQ(queue.pop(), &below);
  EXPECT_EQ(queue.pop(), nullptr);
  take(&below);
  table.release(a);
}

TEST_F(OrphanQueueTest, NoticesThatComeWhileTheChainIsTakenFollowIt) {
  Note &a = make(), &b = make(), &c = make();
  queue.push(a.name());
  queue.push(b.name());
  EXPECT_EQ(queue.pop(), &b);
  EXPECT_EQ(queue.push(c.name()), Push::kFirst);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_EQ(queue.pop(), &c);
  EXPECT_EQ(queue.pop(), nullptr);
  for (Note* note : {&a, &b, &c}) take(note);
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
          if (queue.push(notes[at]->name()) != Push::kDropped) ++taken;
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

// A slot has record after record, each of which is noticed by one thread while another ends it or, every
// other time, leaves that to the notice.
TEST_F(OrphanQueueTest, EndsThatRaceTheirNoticesLoseNone) {
  constexpr std::uint64_t kRounds = 20'000;
  std::atomic<std::uint64_t> current{0};
  std::thread producer([&] {
    for (std::uint64_t seen = 0; seen != ~std::uint64_t{0};) {
      const std::uint64_t name = current.load(std::memory_order_acquire);
      if (name != 0 && name != seen && name != ~std::uint64_t{0}) queue.push(name);
      seen = name;
    }
  });
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    Note& note = make();
    current.store(note.name(), std::memory_order_release);
    if (round % 2 == 0) {
      table.release(note);
      continue;
    }
    for (bool noticed = false; !noticed;) {
      Note* const off = queue.pop();
      if (off == nullptr) continue;
      ASSERT_EQ(off, &note);
      noticed = table.take_off(*off);
    }
    table.release(note);
  }
  current.store(~std::uint64_t{0});
  producer.join();
  while (Note* const off = queue.pop()) EXPECT_FALSE(table.take_off(*off));
  EXPECT_FALSE(table.has_notices());
  EXPECT_EQ(table.chunks(), 1u);
}

}  // namespace
}  // namespace ebb
