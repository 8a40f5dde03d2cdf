// Contexts and devices that end and are recycled while others use them by name, and the climb, under
// schedules of the whole core.
#include "capi/names.hpp"
#include "schedules/explore.hpp"
#include "schedules/scheduled_heap.hpp"
#include "support/hosts.hpp"

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

// Two threads find no room; the host has garbage enough for both.
TEST(ClimbSchedules, WhoComesSecondWaitsForTheClimbUnderWay) {
  explore(
      "two that need what one collection frees",
      [](Schedule& run) {
        const test::ReclaimOn on;
        constexpr std::int64_t kBytes = CountingHeap::kGranule;
        test::OpenDevice device({.kind = DeviceKind::kCustom,
                                 .name = "small",
                                 .budget = 2 * kBytes,
                                 .heap = std::make_unique<CountingHeap>()});
        WatchedHost host(run);
        std::vector<Handle> garbage;
        host.on_collect = [&](Collection) {
          for (const Handle each : std::exchange(garbage, {})) Context::orphan(each);
          return 100;
        };
        {
          const ContextPtr context = Context::create({.name = "climbing", .host = &host});
          const std::array<std::int64_t, 1> dims{kBytes};
          const TensorSpec spec{
              .device = device.get(), .dtype = DType::kUint8, .shape = Shape(dims)};
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

}  // namespace
}  // namespace ebb::schedules
