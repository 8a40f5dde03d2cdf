// The orphan queue and the recycling of slots under every schedule of a few preemptions.
#include "memory/orphan_queue.hpp"

#include <mutex>

#include "schedules/explore.hpp"

namespace ebb::schedules {
namespace {

struct Record : SlotHeader<Record> {
  atomic<Record*> notice_link{nullptr};
};

using Table = SlotTable<Record>;
using Queue = OrphanQueue<Record>;

// One record and its table and queue, as a context has them: find, end and drain under the lock,
// notices without.
struct World {
  Table table;
  Queue queue;
  Lock lock;
  int drained = 0, ended = 0;

  std::uint64_t make() {
    const std::lock_guard guard(lock);
    return table.acquire().name();
  }
  Queue::Push notice(std::uint64_t name) { return queue.push(name); }
  bool end(std::uint64_t name) {
    const std::lock_guard guard(lock);
    Record* const slot = table.find(name);
    if (slot == nullptr) return false;
    table.release(*slot);
    ++ended;
    return true;
  }
  void end_all() {
    drain();
    for (std::size_t i = 0; i < Table::chunk_end(); ++i) {
      for (Record& slot : table.chunk(i)) {
        if (slot.live()) table.release(slot);
      }
    }
  }
  void drain() {
    const std::lock_guard guard(lock);
    while (Record* const slot = queue.pop()) {
      if (!table.take_off(*slot)) continue;
      ++drained;
      table.release(*slot);
    }
  }
};

TEST(OrphanSchedules, EachNoticeIsDrainedOnce) {
  explore("two notices and a drain", [](Schedule& run) {
    const auto made = std::make_unique<World>();
    World& world = *made;
    const std::uint64_t a = world.make(), b = world.make();
    run.thread([&] { world.notice(a); });
    run.thread([&] { world.notice(b); });
    run.thread([&] { world.drain(); });
    run.start();
    world.drain();
    run.expect(world.drained == 2, "a notice was lost, or came twice");
    run.expect(world.table.live() == 0, "a record is left");
  });
}

// Whoever is interrupted inside a notice keeps none of the others: those that came before or come after
// are drained without it.
TEST(OrphanSchedules, ANoticeThatIsInterruptedHoldsUpNoOther) {
  explore("a notice, and another that is drained at once", [](Schedule& run) {
    const auto made = std::make_unique<World>();
    World& world = *made;
    const std::uint64_t a = world.make(), b = world.make();
    run.thread([&] { world.notice(a); });
    run.thread([&] {
      world.notice(b);
      world.drain();
      run.expect(world.table.find(b) == nullptr, "a notice waits for another that is under way");
    });
    run.start();
    world.drain();
    run.expect(world.drained == 2 && world.table.live() == 0, "a notice was lost");
  });
}

TEST(OrphanSchedules, ASecondNoticeIsDropped) {
  explore("the same notice twice", [](Schedule& run) {
    const auto made = std::make_unique<World>();
    World& world = *made;
    const std::uint64_t a = world.make();
    int taken = 0;
    const auto notice = [&] { taken += world.notice(a) == Queue::Push::kDropped ? 0 : 1; };
    run.thread(notice);
    run.thread(notice);
    run.thread([&] { world.drain(); });
    run.start();
    world.drain();
    run.expect(taken == 1 && world.drained == 1, "one of two notices counts");
    run.expect(world.table.live() == 0, "a record is left");
  });
}

// A record ends while its notice is on the way; its slot is taken by another record, which must not
// end by the old notice.
TEST(OrphanSchedules, ANoticeNeverEndsTheNextRecord) {
  explore("notice, end and make again", [](Schedule& run) {
    const auto made = std::make_unique<World>();
    World& world = *made;
    const std::uint64_t a = world.make();
    std::uint64_t next = 0;
    run.thread([&] { world.notice(a); });
    run.thread([&] {
      world.end(a);
      next = world.make();
    });
    run.thread([&] { world.drain(); });
    run.start();
    world.drain();
    run.expect(world.drained + world.ended == 1, "the first record ended once");
    run.expect(world.table.find(next) != nullptr, "the second record lives");
    run.expect(next != a, "no name comes twice");
    world.end(next);
    world.drain();
    run.expect(world.table.live() == 0, "a record is left");
  });
}

// The slot has its next record while it is in the queue for the first, or on its way there, and a notice
// comes for that one too: it is taken off once for each that was in time, and never lost.
TEST(OrphanSchedules, ANoticeForTheNextRecordInASlotThatIsQueuedCounts) {
  explore("notice, end, make again and notice that", [](Schedule& run) {
    const auto made = std::make_unique<World>();
    World& world = *made;
    const std::uint64_t a = world.make();
    run.thread([&] { world.notice(a); });
    run.thread([&] {
      world.end(a);
      world.notice(world.make());
    });
    run.thread([&] { world.drain(); });
    run.start();
    world.drain();
    run.expect(world.drained + world.ended == 2, "each record ended once");
    run.expect(world.table.live() == 0, "a notice was lost");
    run.expect(!world.queue.noticed() && !world.table.has_notices(), "something is left");
  });
}

// The same three times over, by guesses of names that are yet to come.
TEST(OrphanSchedules, NoticesThatAreLateForOneRecordAndEarlyForTheNext) {
  explore("guesses, end, make again and notice that", [](Schedule& run) {
    const auto made = std::make_unique<World>();
    World& world = *made;
    const std::uint64_t a = world.make();
    std::array<std::uint64_t, 2> next{};
    const auto guess = [&](std::uint64_t times) {
      world.notice(a + (times << (kSlotIndexBits + 1)));
    };
    run.thread([&] { guess(0), guess(1); });
    run.thread([&] { guess(1), guess(2); });
    run.thread([&] {
      world.end(a);
      for (std::uint64_t& name : next) world.end(name = world.make());
      world.drain();
    });
    run.start();
    world.drain();
    run.expect(world.drained + world.ended == 3, "each record ended once");
    run.expect(world.table.live() == 0, "a record is left");
    run.expect(!world.queue.noticed() && !world.table.has_notices(), "something is left");
  });
}

// Two contexts, whose tables take chunks from one stock.
struct Neighbour : World {
  struct Named : Table {
    explicit Named(Neighbour& of) : owner(of) {}
    Neighbour& owner;
  };
  Named records{*this};
  int drained = 0;
  bool astray = false;

  std::uint64_t make() {
    const std::lock_guard guard(lock);
    return records.acquire().name();
  }
  // As ContextBody::orphan: whose the record is, is known once it is marked.
  static void notice(std::uint64_t name) {
    using Space = SlotSpace<Record>;
    Record* const slot = Space::mark(name);
    if (slot != nullptr) static_cast<Named*>(Space::table_of(name))->owner.queue.link(*slot);
  }
  void end(std::uint64_t name) {
    const std::lock_guard guard(lock);
    Record* const slot = records.find(name);
    if (slot != nullptr) records.release(*slot);
  }
  // The chunk is anybody's then.
  void give_away() {
    const std::lock_guard guard(lock);
    if (records.live() == 0 && !records.has_notices()) records.clear();
  }
  void drain() {
    const std::lock_guard guard(lock);
    while (Record* const slot = queue.pop()) {
      astray |= SlotSpace<Record>::table_of(slot->name()) != &records;
      if (astray) return;
      if (!records.take_off(*slot)) continue;
      ++drained;
      records.release(*slot);
    }
  }
};

// A record ends, its chunk goes to another table, and the slot has a record of that one: notices for
// both, the second one a guess that came before the record, reach the context they are for or none.
TEST(OrphanSchedules, ANoticeFindsTheContextAlsoWhenAChunkChangesHands) {
  explore("notice, end, and a chunk that changes hands", [](Schedule& run) {
    const auto made = std::make_unique<std::array<Neighbour, 2>>();
    auto& [first, second] = *made;
    const std::uint64_t name = first.make();
    const std::uint64_t guess = name + (std::uint64_t{2} << kSlotIndexBits);
    std::uint64_t next = 0;
    run.thread([&] { Neighbour::notice(name); });
    run.thread([&] {
      first.end(name);
      first.give_away();
      next = second.make();
    });
    run.thread([&] { Neighbour::notice(guess); });
    run.start();
    first.drain();
    second.drain();
    run.expect(!first.astray && !second.astray, "a notice reached the wrong context");
    run.expect(next != name, "no name comes twice");
    run.expect(first.records.find(name) == nullptr, "the first record has ended");
    run.expect(next == guess || second.records.find(next) != nullptr, "the second one lives");
    second.end(next);
    run.expect(first.records.live() + second.records.live() == 0, "a record is left");
  });
}

// The last record of a chunk ends, where the table has a spare: so the chunk goes, unless a notice is
// about to queue the slot. Who has it next finds its own notice in its own queue.
TEST(OrphanSchedules, AnEmptyChunkGoesOnlyWhereNoneOfItsSlotsIsQueued) {
  explore("notice, the end of a chunk, and a notice for its next record", [](Schedule& run) {
    const auto made = std::make_unique<std::array<Neighbour, 2>>();
    auto& [first, second] = *made;
    std::vector<std::uint64_t> names(3 * kChunkSlots);
    for (std::uint64_t& name : names) name = first.make();
    for (std::size_t i = 1; i < names.size(); ++i) first.end(names[i]);
    run.thread([&] { Neighbour::notice(names[0]); });
    run.thread([&] {
      first.end(names[0]);
      Neighbour::notice(second.make());
    });
    run.start();
    first.drain();
    second.drain();
    run.expect(!first.astray && !second.astray, "a notice reached the wrong context");
    run.expect(second.drained == 1, "a notice was lost");
    run.expect(first.records.live() + second.records.live() == 0, "a record is left");
    run.expect(!first.records.has_notices() && !second.records.has_notices(), "a mark is left");
    first.give_away();
    run.expect(first.records.chunks() == 0, "a chunk was not given back");
  });
}

// Chunks are found without a lock, by names that may be guessed, and are whole then.
TEST(OrphanSchedules, AGuessFindsARecordThatIsWhole) {
  static std::vector<std::unique_ptr<World>> taken;  // each has a chunk, so the next makes one
  constexpr std::size_t kMost = 300;
  explore(
      "a chunk that is made, and notices that guess its names",
      [](Schedule& run) {
        if (taken.size() == kMost) return;
        World& world = *taken.emplace_back(std::make_unique<World>());
        const std::uint64_t guess = Table::chunk_end() * kChunkSlots | 1u << kSlotIndexBits;
        std::uint64_t name = 0;
        run.thread([&] { name = world.make(); });
        run.thread([&] {
          if (SlotSpace<Record>::find_slot(guess) != nullptr) world.notice(guess);
          static_cast<void>(SlotSpace<Record>::has_ended(guess));
        });
        run.thread([&] {
          if (const std::size_t end = Table::chunk_end(); end != 0) {
            static_cast<void>(world.table.has_chunk(end - 1));
          }
        });
        run.start();
        run.expect(SlotSpace<Record>::find_slot(name) != nullptr, "there is no record");
      },
      3, Values::kOld);
  for (const auto& world : taken) world->end_all();
  taken.clear();
}

// What a producer wrote before its notice is there for the consumer.
TEST(OrphanSchedules, ANoticePassesOnWhatWasWrittenBefore) {
  explore("a notice that carries something", [](Schedule& run) {
    const auto made = std::make_unique<World>();
    World& world = *made;
    const std::uint64_t a = world.make();
    Plain<int> written;
    int read = 0;
    run.thread([&] {
      written.set(7);
      world.notice(a);
    });
    run.thread([&] {
      const std::lock_guard guard(world.lock);
      if (world.queue.pop() != nullptr) read = written.get();
    });
    run.start();
    run.expect(read == 0 || read == 7, "read before it was written");
    while (world.queue.pop() != nullptr) {
    }
    world.end(a);
  });
}

// The same where the slot is queued by the notice of the record before.
TEST(OrphanSchedules, ANoticeThatAnotherLinksPassesOnWhatWasWrittenBefore) {
  explore("a notice that carries something, linked by another", [](Schedule& run) {
    const auto made = std::make_unique<World>();
    World& world = *made;
    const std::uint64_t a = world.make();
    const std::uint64_t b = a + (std::uint64_t{2} << kSlotIndexBits);
    Plain<int> written;
    int read = 7;
    run.thread([&] { world.notice(a); });
    run.thread([&] {
      written.set(7);
      world.notice(b);
    });
    run.thread([&] {
      world.end(a);
      world.make();
      const std::lock_guard guard(world.lock);
      Record* const slot = world.queue.pop();
      if (slot != nullptr && world.table.take_off(*slot)) read = written.get();
    });
    run.start();
    run.expect(read == 7, "read before it was written");
    world.drain();
    world.end(b);
  });
}

}  // namespace
}  // namespace ebb::schedules
