// Whatever the events, they come back as they were, and the usual ones are short.
#include "observe/event_codec.hpp"

#include <gtest/gtest.h>

#include <random>

#include "ebb/base/error.hpp"
#include "memory/slot_table.hpp"
#include "support/seed.hpp"

namespace ebb::observe {
namespace {

std::uint64_t name(std::uint64_t generation, std::uint64_t slot) {
  return generation << kSlotIndexBits | slot;
}

std::vector<ThreadEvent> decoded(const WireWriter& wire) {
  EventDecoder decoder;
  WireReader in(wire.bytes());
  decoder.begin_block(in);
  std::vector<ThreadEvent> events;
  while (!in.at_end()) events.push_back(decoder.decode(in));
  return events;
}

void expect_same(const ThreadEvent& got, const ThreadEvent& wanted) {
  EXPECT_EQ(got.thread, wanted.thread);
  TraceEvent event = got.event;
  event.time = wanted.event.time;  // coarser
  EXPECT_EQ(event, wanted.event);
}

TEST(EventCodec, RandomEventsComeBack) {
  std::mt19937_64 random(test::seed_for("codec", 7));
  std::vector<ThreadEvent> events;
  std::vector<TraceEvent> live;
  std::uint64_t time = 0;
  const auto pick = [&](std::uint64_t below) { return random() % below; };
  for (int i = 0; i < 50000; ++i) {
    time += pick(3) * 700;
    TraceEvent event{.time = time};
    if (pick(20) == 0) {  // anything at all
      event.id = random();
      event.bytes = random() >> pick(64);
      event.storage = random();
      event.site = static_cast<std::uint32_t>(random());
      event.kind = EventKind(16 + pick(10));
      event.detail = static_cast<std::uint8_t>(pick(4));
      event.device = static_cast<std::uint8_t>(pick(32));
      event.flags = static_cast<std::uint8_t>(pick(8));
      if (event.kind == kTensorBorn) {  // a birth says no more than this
        event.id &= (std::uint64_t{1} << 53) - 1;
        event.flags &= kWithStorage;
      }
    } else if (live.size() < 50 || pick(2) == 0) {
      event.kind = kTensorBorn;
      event.id = name(1 + 2 * pick(1000), pick(3000));
      event.bytes = 64 * pick(40);
      event.storage = 0x7f0000000000 + 64 * pick(100000);
      event.site = static_cast<std::uint32_t>(pick(30));
      event.detail = 1;
      event.device = 1;
      event.flags = static_cast<std::uint8_t>(pick(2));
      live.push_back(event);
    } else {
      const std::size_t at = pick(live.size());
      event = live[at];
      event.kind = kTensorEnded;
      event.site = pick(50) == 0 ? 3 : 0;
      event.detail = static_cast<std::uint8_t>(pick(kReasons));
      event.flags = static_cast<std::uint8_t>(pick(4));
      event.time = time;
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    }
    events.push_back({static_cast<std::uint32_t>(pick(10) == 0 ? 2 : 1), event});
  }
  WireWriter wire;
  EventEncoder encoder(wire);
  encoder.begin_block();
  for (const ThreadEvent& each : events) encoder.encode(each.thread, each.event);
  const std::vector<ThreadEvent> got = decoded(wire);
  ASSERT_EQ(got.size(), events.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    expect_same(got[i], events[i]);
    EXPECT_LE(got[i].event.time, events[i].event.time);
    EXPECT_LT(events[i].event.time - got[i].event.time, 1000u);
    if (HasFailure()) FAIL() << "at " << i;
  }
}

// Three temporaries a step, ended as they were made, and taken again from the same slots.
TEST(EventCodec, AStepThatRepeatsTakesTwoBytesAnEvent) {
  WireWriter wire;
  EventEncoder encoder(wire);
  encoder.begin_block();
  constexpr std::uint64_t kSteps = 1000, kTensors = 3;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    for (std::uint64_t t = 0; t < kTensors; ++t) {
      encoder.encode(1, {.id = name(1 + 2 * step, t),
                         .bytes = 4096 * (t + 1),
                         .storage = 0x7f0000000000 + t * 65536,
                         .site = static_cast<std::uint32_t>(t + 1),
                         .kind = kTensorBorn,
                         .detail = 1,
                         .device = 1,
                         .flags = kWithStorage,
                         .time = step * 5000});
    }
    for (std::uint64_t t = kTensors; t-- > 0;) {
      encoder.encode(1, {.id = name(1 + 2 * step, t),
                         .bytes = 4096 * (t + 1),
                         .storage = 0x7f0000000000 + t * 65536,
                         .kind = kTensorEnded,
                         .device = 1,
                         .flags = kWithStorage,
                         .time = step * 5000});
    }
  }
  EXPECT_EQ(decoded(wire).size(), kSteps * kTensors * 2);
  EXPECT_LE(wire.bytes().size(), kSteps * kTensors * 2 * 2 + 100);
}

TEST(EventCodec, MoreClassesThanItKeepsAreWrittenOut) {
  WireWriter wire;
  EventEncoder encoder(wire);
  encoder.begin_block();
  constexpr std::uint64_t kBirths = CodecState::kMostClasses + 100;
  for (std::uint64_t i = 0; i < kBirths; ++i) {
    encoder.encode(1, {.id = name(1, i), .bytes = i, .kind = kTensorBorn, .flags = kWithStorage});
  }
  const auto got = decoded(wire);
  ASSERT_EQ(got.size(), kBirths);
  EXPECT_EQ(got.back().event.bytes, kBirths - 1);
}

TEST(EventCodec, RefusesWhatNamesNothing) {
  const auto refused = [](std::vector<std::uint8_t> bytes) {
    EventDecoder decoder;
    WireReader in(bytes);
    EXPECT_THROW(
        {
          decoder.begin_block(in);
          while (!in.at_end()) decoder.decode(in);
        },
        Error);
  };
  refused({});
  refused({0, 0, 1});         // a birth in the slot that came free last: there is none
  refused({0, 0, 1 | 8, 2});  // of the last class: there is none
  refused({0, 0, 2});         // the end of the last born: there is none
  refused({0, 0, 3});         // a thread without a number
  refused({0, 0, 0, 16, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F});
}

}  // namespace
}  // namespace ebb::observe
