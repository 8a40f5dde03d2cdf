// Contexts and devices that end and are recycled while others use them by name, and the climb, under
// schedules of the whole core.
#include "capi/names.hpp"
#include "schedules/explore.hpp"
#include "schedules/scheduled_heap.hpp"
#include "support/hosts.hpp"
#include "tensor/tensor_record.hpp"

namespace ebb::schedules {
namespace {

constexpr std::size_t kPreemptions = 2;  // a call of a context has dozens of steps

// The call, or nothing where the context or device that it names has ended.
template <typename Call>
auto unless_ended(Call&& call) -> std::optional<decltype(call())> {
  try {
    return call();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kStaleHandle) throw;
    return std::nullopt;
  }
}

// Says no more once it is gone.
struct WatchedHost : test::RecordingHost {
  explicit WatchedHost(Schedule& schedule) : run(schedule) {}
  void end(std::span<const ForeignEnd> ended) override {
    run.expect(!gone, "a host is told of ends when it is gone");
    test::RecordingHost::end(ended);
    run.step();
    run.expect(!gone, "a host goes while it is told of ends");
  }
  std::uint64_t collect(Collection kind) override {
    run.expect(!gone, "a host collects when it is gone");
    run.step();
    const std::uint64_t cost = test::RecordingHost::collect(kind);
    run.expect(!gone, "a host goes while it collects");
    return cost;
  }
  Schedule& run;
  bool gone = false;
};

test::OpenDevice& runtime() {
  static test::OpenDevice device({.kind = DeviceKind::kForeign, .name = "runtime"});
  return device;
}

ForeignSpec spec_of(std::uint64_t tag) {
  ForeignSpec spec;
  spec.device = runtime().get();
  spec.bytes = 64;
  spec.tag = tag;
  return spec;
}

// By its name, as a host calls.
std::optional<Handle> adopt(ContextId name, std::uint64_t tag) {
  return unless_ended([&] { return capi::context_of(name).adopt(spec_of(tag)); });
}

void balance(Schedule& run) {
  try {
    Context::audit();
  } catch (const Error& error) {
    run.expect(false, "the books do not balance");
  }
}

TEST(ContextSchedules, WhatIsMadeByNameNeverLandsInTheNextContext) {
  explore(
      "destroy, make by name and create",
      [](Schedule& run) {
        WatchedHost first(run), second(run);
        ContextPtr old = Context::create({.name = "first", .host = &first});
        const ContextId name = old->id();
        ContextPtr next;
        std::optional<Handle> made;
        run.thread([&] {
          old.reset();
          first.gone = true;
          next = Context::create({.name = "second", .host = &second});
        });
        run.thread([&] { made = adopt(name, 1); });
        run.start();
        run.expect(next->memory().books.created == 0, "a tensor landed in the next context");
        run.expect(first.ends.size() == (made ? 1u : 0u), "its host was told of its end");
        run.expect(next->id() != name, "no name comes twice");
        balance(run);
      },
      kPreemptions);
}

TEST(ContextSchedules, ComeAndGoWhileAllAreSummedUp) {
  explore(
      "a context that ends, one that is made, and one that reads all books",
      [](Schedule& run) {
        ContextPtr first = Context::create({.name = "first"});
        first->adopt(spec_of(1));
        const std::uint64_t created = Context::total_memory().books.created;
        ContextPtr second;
        run.thread([&] { first.reset(); });
        run.thread([&] { second = Context::create({.name = "second"}); });
        run.thread([&] {
          run.expect(Context::total_memory().books.created <= created, "a tensor counts twice");
        });
        run.start();
        run.expect(Context::total_memory().books.created == created, "a tensor is lost");
        second.reset();
        balance(run);
      },
      kPreemptions);
}

TEST(ContextSchedules, OneOfTwoEndsAContext) {
  explore(
      "two that destroy one context",
      [](Schedule& run) {
        WatchedHost host(run);
        ContextPtr context = Context::create({.name = "raced", .host = &host});
        context->adopt(spec_of(1));
        const Context name = *context;
        int ended = 0;
        const auto end = [&] {
          if (name.close()) ++ended;
        };
        run.thread(end);
        run.thread(end);
        run.start();
        run.expect(ended == 1, "one of them ends it");
        run.expect(host.ends.size() == 1, "its tensor ended once");
        balance(run);
      },
      kPreemptions);
}

TEST(ContextSchedules, ANoticeMayComeWhileItsContextEnds) {
  explore(
      "a notice, an end and a context that is made",
      [](Schedule& run) {
        WatchedHost host(run), other(run);
        ContextPtr context = Context::create({.name = "noticed", .host = &host});
        const Handle handle = context->adopt(spec_of(1));
        ContextPtr next;
        run.thread([&] { Context::orphan(handle); });
        run.thread([&] {
          context.reset();
          host.gone = true;
          next = Context::create({.name = "next", .host = &other});
          next->adopt(spec_of(2));
        });
        run.start();
        run.expect(host.ends.size() == 1, "its tensor ended once");
        const MemoryReading reading = next->memory();
        run.expect(reading.books.live == 1 && reading.orphans == 0,
                   "an old notice reached the next");
        balance(run);
      },
      kPreemptions);
}

// The slot goes on to the next context only when no notice has it in hand any more.
TEST(ContextSchedules, ANoticeForTheNextContextArrivesWhateverCameLate) {
  explore(
      "a notice, an end, and a notice in the context that is made",
      [](Schedule& run) {
        WatchedHost host(run), other(run);
        ContextPtr context = Context::create({.name = "noticed", .host = &host});
        const Handle handle = context->adopt(spec_of(1));
        ContextPtr next;
        run.thread([&] { Context::orphan(handle); });
        run.thread([&] {
          context.reset();
          next = Context::create({.name = "next", .host = &other});
          Context::orphan(next->adopt(spec_of(2)));
        });
        run.start();
        const MemoryReading reading = next->memory();
        run.expect(reading.books.live == 1 && reading.orphans == 1, "a notice was lost");
        balance(run);
      },
      kPreemptions);
}

TEST(ContextSchedules, AHostIsLeftAloneWhenItsContextHasEnded) {
  explore(
      "a collection while its context ends",
      [](Schedule& run) {
        const test::ReclaimOn on;
        WatchedHost host(run);
        host.on_collect = [](Collection) { return 100; };
        ContextPtr context = Context::create({.name = "collecting", .host = &host});
        const ContextId name = context->id();
        const Handle handle = context->adopt(spec_of(1));
        run.thread([&] {
          Context::orphan(handle);
          unless_ended([&] { return capi::context_of(name).safe_point(); });
          unless_ended([&] { return capi::context_of(name).collect(Collection::kMajor, false); });
        });
        run.thread([&] {
          context.reset();
          host.gone = true;
        });
        run.start();
        run.expect(host.ends.size() == 1, "its tensor ended once");
        balance(run);
      },
      kPreemptions);
}

TEST(DeviceSchedules, WhatIsMadeByANameIsOnTheDeviceThatHadIt) {
  explore(
      "close, make by name and open",
      [](Schedule& run) {
        test::RecordingHost host;
        const ContextPtr context = Context::create({.name = "devices", .host = &host});
        Device& old = Device::open({.kind = DeviceKind::kForeign, .name = "old"});
        const DeviceId name = old.id();
        Device* next = nullptr;
        bool closed = false, right = true;
        run.thread([&] {
          try {
            Device::close(name);
            closed = true;
          } catch (const Error&) {  // in use just now
          }
          next = &Device::open({.kind = DeviceKind::kForeign, .name = "new"});
        });
        run.thread([&] {
          unless_ended([&] {
            const capi::NamedDevice named(name);
            ForeignSpec spec = spec_of(1);
            spec.device = &*named;
            const Handle made = context->adopt(spec);
            named.confirm([&] { context->dispose(made); });
            right = (*named).name() == "old";
            context->dispose(made);
            return true;
          });
        });
        run.start();
        run.expect(right, "it was made on another device");
        run.expect(next->id() != name, "no name comes twice");
        run.expect(next->in_use() == 0, "something is left on the new device");
        if (!closed) Device::close(name);
        Device::close(*next);
        balance(run);
      },
      kPreemptions);
}

// A device and a context are found without a lock, as soon as they are there, and whole.
TEST(DeviceSchedules, WhoeverFindsADeviceFindsAllOfIt) {
  explore(
      "a device that is made, and one that looks for it",
      [](Schedule& run) {
        const auto open = [] {
          return &Device::open({.kind = DeviceKind::kCustom,
                                .name = "made",
                                .heap = std::make_unique<CountingHeap>()});
        };
        Device* made = open();
        const DeviceIndex index = made->index();
        Device::close(*made);
        made = nullptr;
        run.thread([&] { made = open(); });
        run.thread([&] {
          const Device* const found = Device::at(index);
          if (found == nullptr) return;
          run.expect(found->kind() == DeviceKind::kCustom, "it is of another kind");
          run.expect(found->name().size() == 4, "it has another name");
          run.expect(found->in_use() == 0, "something is in use already");
        });
        run.start();
        Device::close(*made);
      },
      kPreemptions);
}

TEST(DeviceSchedules, ANameThatChangesIsOneOfBoth) {
  explore(
      "a device that gets another name, and one that reads it",
      [](Schedule& run) {
        Device& old = Device::open({.kind = DeviceKind::kForeign, .name = "one name"});
        const DeviceId id = old.id();
        Device* next = nullptr;
        // Other each time: a name is kept for ever, and made once.
        static int number = 0;
        const std::string other = "another " + std::to_string(number++);
        run.thread([&] {
          Device::close(id);
          next = &Device::open({.kind = DeviceKind::kForeign, .name = other});
        });
        run.thread([&] {
          const std::string& name = old.name();
          run.expect(name.size() == 8 || name.size() == other.size(), "a name that nobody gave");
          const DeviceId now = old.id();
          run.expect(now == id || now == 0 || now > id, "a name that it had before");
        });
        run.start();
        Device::close(*next);
      },
      kPreemptions);
}

// Its next name can be guessed. A closed device is kept for its kind, so whoever looks may have found
// it before it was opened again.
TEST(DeviceSchedules, WhoeverFindsItByItsNextNameFindsItAsItIsThen) {
  explore(
      "a device that is opened again, and one that guesses its name",
      [](Schedule& run) {
        const auto open = [](std::size_t capacity) {
          return &Device::open(
              {.kind = DeviceKind::kSimulated, .name = "again", .capacity = capacity});
        };
        Device* device = open(4 << 20);
        const DeviceId id = device->id(), guess = id + kMaxDevices;
        run.thread([&] {
          Device::close(id);
          device = open(8 << 20);
        });
        run.thread([&] {
          if (Device* const found = Device::find(guess)) found->set_ceiling(0);
        });
        run.start();
        run.expect(device->id() == guess, "another name than the next");
        Device::close(*device);
      },
      kPreemptions);
}

// The next name of a context can be guessed; a body is made for it where none is free.
TEST(ContextSchedules, WhoeverFindsAContextFindsAllOfIt) {
  static std::vector<ContextPtr> taken;  // so that each is a new one
  constexpr std::size_t kMost = 200;
  explore(
      "a context that is made, and one that guesses its name",
      [](Schedule& run) {
        if (taken.size() == kMost) return;
        taken.push_back(Context::create({.name = "last"}));
        const ContextId guess = taken.back()->id() + 1;
        ContextPtr made;
        taken.back()->adopt(spec_of(1));
        const Handle its_first =
            Handle{1} << kSlotIndexBits | SlotSpace<TensorRecord>::stock().made() * kChunkSlots;
        run.thread([&] {
          made = Context::create({.name = "next"});
          made->adopt(spec_of(1));  // in records of its own
        });
        run.thread([&] {
          unless_ended([&] { return Context::release_by_name(its_first); });
          unless_ended([&] { return capi::context_of(guess).memory().books.live; });
          run.expect(taken.back()->holdings().size() == 1, "a tensor is missing");
        });
        run.start();
        taken.push_back(std::move(made));
      },
      kPreemptions, Values::kOld);
  taken.clear();
}

// A record is looked for under the lock, as are those that others give back meanwhile.
TEST(ClimbSchedules, WhoFindsNoNameLooksForOneWhileOthersEndTheirs) {
  explore(
      "one that finds no name while another ends tensors",
      [](Schedule& run) {
        auto& names = SlotSpace<TensorRecord>::stock();
        const std::size_t most = names.most();
        test::RecordingHost host;
        const ContextPtr context = Context::create({.name = "names", .host = &host});
        const ContextPtr other = Context::create({.name = "other names", .host = &host});
        const Handle theirs = other->adopt(spec_of(1));
        std::vector<Handle> all;
        for (std::size_t i = 0; i < kChunkSlots; ++i) all.push_back(context->adopt(spec_of(1)));
        names.set_most(names.taken());
        run.thread([&] {
          try {
            context->adopt(spec_of(2));
          } catch (const OutOfMemory&) {  // none had ended yet
          }
        });
        run.thread([&] {
          other->dispose(theirs);
          context->dispose(all[0]);
        });
        run.start();
        names.set_most(most);
        balance(run);
      },
      kPreemptions);
}

// Has room for so many tensors, each a granule of its heap.
class SmallDevice {
 public:
  explicit SmallDevice(std::uint64_t tensors)
      : device_({.kind = DeviceKind::kCustom,
                 .name = "small",
                 .budget = tensors * CountingHeap::kGranule,
                 .heap = std::make_unique<CountingHeap>()}) {}
  TensorSpec one() const {
    const std::array<std::int64_t, 1> dims{CountingHeap::kGranule};
    return {.device = device_.get(), .dtype = DType::kUint8, .shape = Shape(dims)};
  }

 private:
  test::OpenDevice device_;
};

// Two threads find no room; the host has garbage enough for both.
TEST(ClimbSchedules, WhoComesSecondWaitsForTheClimbUnderWay) {
  explore(
      "two that need what one collection frees",
      [](Schedule& run) {
        const test::ReclaimOn on;
        const SmallDevice device(2);
        WatchedHost host(run);
        std::vector<Handle> garbage;
        host.on_collect = [&](Collection) {
          for (const Handle each : std::exchange(garbage, {})) Context::orphan(each);
          return 100;
        };
        {
          const ContextPtr context = Context::create({.name = "climbing", .host = &host});
          const TensorSpec spec = device.one();
          for (int i = 0; i < 2; ++i) garbage.push_back(context->make(spec));
          int made = 0;
          for (int i = 0; i < 2; ++i) {
            run.thread([&] {
              try {
                context->make(spec);
                ++made;
              } catch (const Error&) {  // counted below
              }
            });
          }
          run.start();
          run.expect(made == 2, "one found no room though the garbage was enough");
          run.expect(context->memory().books.ended[std::size_t(Reason::kReclaimed)] == 2,
                     "the garbage was given back once");
        }
        balance(run);
      },
      kPreemptions);
}

// What was dropped is in the hands of a thread that drains it when another looks for room.
TEST(ClimbSchedules, WhoFindsNoRoomWaitsForWhatAnotherGivesBack) {
  explore(
      "one that drains, and one that needs what it drains",
      [](Schedule& run) {
        const test::ReclaimOn on;
        const SmallDevice device(1);
        {
          const ContextPtr context = Context::create({.name = "dropping"});
          const TensorSpec spec = device.one();
          Context::orphan(context->make(spec));
          bool made = false;
          run.thread([&] { context->safe_point(); });
          run.thread([&] {
            try {
              made = context->make(spec) != 0;
            } catch (const Error&) {  // seen below
            }
          });
          run.start();
          run.expect(made, "no room though what was dropped is enough");
        }
        balance(run);
      },
      kPreemptions);
}

}  // namespace
}  // namespace ebb::schedules
