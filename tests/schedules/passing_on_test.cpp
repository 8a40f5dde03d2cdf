// What one thread wrote before it gave something up is there for whoever takes it over: the memory of
// a tensor that was held, the events of a ring, what a function needs that is replaced.
#include "ebb/tensor/layout.hpp"
#include "memory/event_ring.hpp"
#include "schedules/explore.hpp"
#include "schedules/scheduled_heap.hpp"
#include "support/hosts.hpp"

namespace ebb::schedules {
namespace {

constexpr std::size_t kPreemptions = 2;

struct World {
  explicit World(bool synchronous = true)
      : device({.kind = DeviceKind::kCustom,
                .name = "held",
                .heap = std::make_unique<CountingHeap>(synchronous)}) {}

  test::OpenDevice device;
  ContextPtr context = Context::create({.name = "held"});

  Handle make() const {
    const std::array<std::int64_t, 1> dims{16};
    return context->make({.device = device.get(), .dtype = DType::kUint8, .shape = Shape(dims)});
  }
  static void write(const StorageRef& memory) { memory.data()[0] = std::byte{1}; }
};

// Of two that let go, the last one gives the memory back, and it may be the next tensor's.
TEST(HoldSchedules, WhoeverLetsGoPassesTheMemoryOn) {
  explore(
      "a hold that ends while its tensor does",
      [](Schedule& run) {
        const World world;
        const Handle handle = world.make();
        StorageRef held = world.context->hold(handle);
        const auto use_anew = [&] { World::write(world.context->hold(world.make())); };
        run.thread([&] {
          World::write(held);
          held.reset();
          use_anew();
        });
        run.thread([&] {
          world.context->dispose(handle);
          use_anew();
        });
        run.start();
        run.expect(world.context->memory().books.held.count == 0, "a hold is left");
      },
      kPreemptions);
}

// An operation writes in place where nobody else has the memory.
TEST(HoldSchedules, WhoIsAloneMayWrite) {
  explore(
      "a hold that ends, and one that looks whether it is alone",
      [](Schedule& run) {
        const World world;
        const Handle handle = world.make();
        StorageRef held = world.context->hold(handle);
        run.thread([&] {
          World::write(held);
          held.reset();
        });
        run.thread([&] {
          if (world.context->is_alone(handle)) World::write(world.context->hold(handle));
        });
        run.start();
      },
      kPreemptions);
}

// Which streams use the memory is noted with it, by whoever has it.
TEST(HoldSchedules, NotesOfStreamsAreOneNote) {
  explore(
      "two that note a stream each",
      [](Schedule& run) {
        const World world(false);
        const Handle handle = world.make();
        for (const StreamId stream : {1, 2}) {
          run.thread([&, stream] { world.context->hold(handle).note_use(stream); });
        }
        run.start();
        world.context->dispose(handle);
        world.device->pool().wait_pending();
        run.expect(world.device->in_use() == 0, "memory is left");
      },
      kPreemptions);
}

// A ring of two, full: what is pushed goes over the older ones.
struct FullRing {
  FullRing() {
    push(1);
    push(2);
  }
  void push(std::uint64_t id) {
    ring.push({.id = id, .bytes = id, .storage = id, .site = std::uint32_t(id)});
  }
  static bool is_whole(const TraceEvent& event) {
    return event.id == event.bytes && event.id == event.storage && event.id == event.site;
  }
  EventRing ring;
};

TEST(RingSchedules, AnEventIsWholeOrLost) {
  explore("events that go round, and one that reads them", [](Schedule& run) {
    const auto full = std::make_unique<FullRing>();
    run.thread([&] {
      run.at_once([&] { full->push(3); });
      full->push(4);
    });
    run.thread([&] {
      std::uint64_t last = 0;
      for (const TraceEvent& event : full->ring.snapshot()) {
        run.expect(FullRing::is_whole(event), "an event is of two");
        run.expect(event.id > last, "events are not in their order");
        last = event.id;
      }
    });
    run.start();
    run.expect(full->ring.pushed() == 4, "an event was not counted");
  });
}

TEST(RingSchedules, AnEventThatIsLookedForIsWholeOrLost) {
  explore("events that go round, and one that looks for a name", [](Schedule& run) {
    const auto full = std::make_unique<FullRing>();
    run.thread([&] {
      run.at_once([&] { full->push(3); });
      full->push(4);
      full->push(5);
    });
    run.thread([&] {
      std::vector<TraceEvent> found;
      full->ring.read_of(3, 0, found);
      for (const TraceEvent& event : found) {
        run.expect(FullRing::is_whole(event) && event.id == 3, "an event of another name");
      }
    });
    run.start();
  });
}

// What was pushed before the count was read is there.
TEST(RingSchedules, WhatIsCountedCanBeRead) {
  explore("events, and one that counts them", [](Schedule& run) {
    const auto full = std::make_unique<FullRing>();
    run.thread([&] { full->push(3); });
    run.thread([&] {
      const std::uint64_t pushed = full->ring.pushed();
      for (const TraceEvent& event : full->ring.snapshot(pushed - 1)) {
        run.expect(event.id >= pushed, "an event that was overwritten");
      }
    });
    run.start();
  });
}

std::unique_ptr<int> g_packed;

TEST(PackSchedules, WhatReplacesItIsReady) {
  explore("packing that is replaced while another packs", [](Schedule& run) {
    g_packed = std::make_unique<int>(0);
    const Pack before = set_pack([](const Operand&, std::byte*) {});
    run.thread([&] {
      *g_packed = 1;
      set_pack([](const Operand&, std::byte*) { *g_packed += 1; });
    });
    run.thread([&] {
      Operand strided;
      strided.dense = false;
      pack(strided, nullptr);
    });
    run.start();
    run.expect(*g_packed >= 1, "it was not ready");
    set_pack(before);
  });
}

}  // namespace
}  // namespace ebb::schedules
