// Forged, stale and foreign names against every call of ebb.h that takes one: none is accepted.
//
// A call that says EBB_OK to a name that has ended, because that is harmless (dispose twice, close
// twice), must change nothing: the books are what they were after each round.
#include <array>
#include <random>
#include <set>

#include "capi/capi_fixture.hpp"
#include "support/seed.hpp"

namespace {

enum Kind : size_t {
  kContext,
  kDevice,
  kHandle,
  kRegion,
  kHold,
  kRead,
  kSite,
  kStream,
  kNotice,
  kKinds
};
enum class Stale : uint8_t { kRefused, kHarmless };

struct Names {
  std::set<uint64_t> valid;     // what a forger must not hit by accident
  std::vector<uint64_t> known;  // valid, ended, or another context's
};

class CapiForgedNames : public CapiTest {
 protected:
  struct Call {
    const char* name;
    Kind kind;
    std::function<ebb_status(uint64_t)> run;
    Stale stale = Stale::kRefused;
  };

  void SetUp() override {
    CapiTest::SetUp();
    const ebb_context_options options = host.options("other");
    ASSERT_OK(ebb_context_create(&options, &other));
    make_ended();
    make_valid();
  }
  void TearDown() override {
    EXPECT_OK(ebb_hold_release(context, hold));
    EXPECT_OK(ebb_read_drop(reading));
    EXPECT_OK(ebb_context_destroy(other));
    CapiTest::TearDown();
  }

  void make_ended() {
    for (int i = 0; i < 50; ++i) {
      const ebb_handle handle = create(64);
      ebb_hold held = 0;
      ebb_read begun = 0;
      uint64_t bytes = 0;
      ASSERT_OK(ebb_hold_acquire(context, handle, &held));
      ASSERT_OK(ebb_read_begin(context, handle, &begun, &bytes));
      ASSERT_OK(ebb_read_drop(begun));
      ASSERT_OK(ebb_hold_release(context, held));
      ASSERT_OK(ebb_tensor_dispose(context, handle));
      const ebb_region region = open();
      ASSERT_OK(ebb_region_close(context, region));
      const ebb_context_options options = host.options("ended");
      ebb_context ended = 0;
      ASSERT_OK(ebb_context_create(&options, &ended));
      ASSERT_OK(ebb_context_destroy(ended));
      const ebb_device closed = open_device(EBB_DEVICE_FOREIGN, "closed", 0);
      ASSERT_OK(ebb_device_close(closed));
      know(kHandle, handle);
      know(kHold, held);
      know(kRead, begun);
      know(kRegion, region);
      know(kContext, ended);
      know(kDevice, closed);
    }
  }
  void make_valid() {
    for (int i = 0; i < 20; ++i) handles.push_back(create(64));
    adopted = adopt(5, 100);
    region = open();
    ASSERT_OK(ebb_region_shortest_lived(context, nullptr, 0, &root));
    uint64_t bytes = 0;
    ASSERT_OK(ebb_hold_acquire(context, handles[0], &hold));
    ASSERT_OK(ebb_read_begin(context, handles[1], &reading, &bytes));
    ASSERT_OK(ebb_site_intern("here", &site));
    for (const ebb_handle each : handles) allow(kHandle, each);
    allow(kHandle, adopted);
    for (const ebb_region each : {region, root}) allow(kRegion, each);
    for (const ebb_context each : {context, other}) allow(kContext, each);
    for (const ebb_device each : {own, foreign}) allow(kDevice, each);
    allow(kHold, hold);
    allow(kRead, reading);
    for (ebb_site each = 1; each <= site; ++each) allow(kSite, each);
    // A stream is a number below 64, not a name: a device does not say which of them it has.
    for (uint32_t each = 0; each < 64; ++each) allow(kStream, each);
    // Names of another context's, for calls in this one.
    spec = spec_of(64);
    ebb_handle their_tensor = 0;
    ebb_region their_region = 0;
    ASSERT_OK(ebb_tensor_create(other, &spec, &their_tensor));
    ASSERT_OK(ebb_region_open(other, 0, nullptr, &their_region));
    know(kHandle, their_tensor);
    names[kNotice] = names[kHandle];
    allow(kNotice, their_tensor);  // a notice names no context
    know(kRegion, their_region);
  }
  void know(Kind kind, uint64_t name) { names[kind].known.push_back(name); }
  void allow(Kind kind, uint64_t name) {
    names[kind].valid.insert(name);
    know(kind, name);
  }

  uint64_t forge(Kind kind) {
    const auto any = [&](Kind of) -> uint64_t {
      const std::vector<uint64_t>& known = names[of].known;
      return known.empty() ? random() : known[random() % known.size()];
    };
    switch (random() % 6) {
      case 0:
        return random();
      case 1:
        return random() >> (random() % 64);
      case 2:
        return any(static_cast<Kind>(random() % kKinds));  // another kind's
      case 3:
        return any(kind) ^ uint64_t { 1 } << (random() % 64);
      case 4:
        return any(kind) + ((random() % 9) - 4) * (uint64_t{1} << (random() % 2 * 24));
      default:
        return any(kind);  // ended, or another context's
    }
  }
  // 0 stands for none or for the usual one; narrow names lose their upper half.
  uint64_t forge_invalid(Kind kind) {
    const bool narrow = kind == kDevice || kind == kSite || kind == kStream;
    while (true) {
      const uint64_t name = narrow ? static_cast<uint32_t>(forge(kind)) : forge(kind);
      if (name != 0 && !names[kind].valid.contains(name)) return name;
    }
  }

  struct Books {
    uint64_t live, created, disposed, region_ended, orphans, held, regions, live_bytes;
    bool operator==(const Books&) const = default;
  };
  Books books(ebb_context of) {
    auto memory = sized<ebb_memory>();
    EXPECT_OK(ebb_memory_read(of, 0, &memory));
    return {memory.live,    memory.created, memory.disposed, memory.region_ended,
            memory.orphans, memory.held,    memory.regions,  memory.live_bytes};
  }

  std::vector<Call> calls_by_context();
  std::vector<Call> calls_by_handle();
  std::vector<Call> calls_by_others();

  std::array<Names, kKinds> names;
  std::mt19937_64 random{ebb::test::seed_for("forged names", 11)};
  std::vector<ebb_handle> handles;
  ebb_handle adopted = 0;
  ebb_region region = 0, root = 0;
  ebb_hold hold = 0;
  ebb_read reading = 0;
  ebb_site site = 0;
  ebb_context other = 0;
  std::array<unsigned char, 64> bytes{};

  // What the calls are given besides.
  const uint32_t op = ebb_op_find("Reshape");
  ebb_tensor_spec spec{};
  ebb_foreign_spec theirs{};
  ebb_op_result result{};
  ebb_tensor_info info = sized<ebb_tensor_info>();
  ebb_device_info device_info = sized<ebb_device_info>();
  ebb_memory memory = sized<ebb_memory>();
  uint64_t made = 0;
  uint32_t done = 0;
  size_t count = 0;
  void* data = nullptr;
  char* text = nullptr;
};

std::vector<CapiForgedNames::Call> CapiForgedNames::calls_by_context() {
  return {
      {"ebb_context_destroy", kContext, [this](uint64_t n) { return ebb_context_destroy(n); }},
      {"ebb_tensor_create", kContext,
       [this](uint64_t n) { return ebb_tensor_create(n, &spec, &made); }},
      {"ebb_tensor_view", kContext,
       [this](uint64_t n) { return ebb_tensor_view(n, handles[0], 0, &spec, &made); }},
      {"ebb_tensor_adopt", kContext,
       [this](uint64_t n) { return ebb_tensor_adopt(n, &theirs, &made); }},
      {"ebb_tensor_rebook", kContext,
       [this](uint64_t n) { return ebb_tensor_rebook(n, adopted, 0, 8); }},
      {"ebb_tensor_dispose", kContext,
       [this](uint64_t n) { return ebb_tensor_dispose(n, handles[0]); }},
      {"ebb_tensors_end", kContext,
       [this](uint64_t n) { return ebb_tensors_end(n, handles.data(), 1, EBB_ENDED_DISPOSED); }},
      {"ebb_tensor_describe", kContext,
       [this](uint64_t n) { return ebb_tensor_describe(n, handles[0], &info); }},
      {"ebb_hold_acquire", kContext,
       [this](uint64_t n) { return ebb_hold_acquire(n, handles[0], &made); }},
      {"ebb_tensor_write", kContext,
       [this](uint64_t n) { return ebb_tensor_write(n, handles[0], bytes.data(), 64); }},
      {"ebb_tensor_read", kContext,
       [this](uint64_t n) { return ebb_tensor_read(n, handles[0], bytes.data(), 64); }},
      {"ebb_read_begin", kContext,
       [this](uint64_t n) { return ebb_read_begin(n, handles[0], &made, &made); }},
      {"ebb_op_run", kContext,
       [this](uint64_t n) {
         return ebb_op_run(n, own, op, handles.data(), 1, nullptr, 0, &result, 1, &count);
       }},
      {"ebb_program_begin", kContext,
       [this](uint64_t n) { return ebb_program_begin(n, nullptr, 0, 0, &made); }},
      {"ebb_tensor_copy_to", kContext,
       [this](uint64_t n) { return ebb_tensor_copy_to(n, handles[0], own, &result); }},
      {"ebb_region_open", kContext,
       [this](uint64_t n) { return ebb_region_open(n, 0, nullptr, &made); }},
      {"ebb_region_close", kContext, [this](uint64_t n) { return ebb_region_close(n, region); }},
      {"ebb_region_attach", kContext,
       [this](uint64_t n) { return ebb_region_attach(n, region, handles[0]); }},
      {"ebb_region_move_to_parent", kContext,
       [this](uint64_t n) { return ebb_region_move_to_parent(n, handles[0]); }},
      {"ebb_region_shortest_lived", kContext,
       [this](uint64_t n) { return ebb_region_shortest_lived(n, handles.data(), 1, &made); }},
      {"ebb_idle", kContext, [this](uint64_t n) { return ebb_idle(n, &done, nullptr); }},
      {"ebb_walk", kContext, [this](uint64_t n) { return ebb_walk(n, 1, 0, nullptr); }},
      {"ebb_safe_point", kContext,
       [this](uint64_t n) { return ebb_safe_point(n, 0, 0, 0, nullptr); }},
      {"ebb_collect", kContext,
       [this](uint64_t n) { return ebb_collect(n, EBB_COLLECT_MINOR, 1, nullptr); }},
      {"ebb_make_room", kContext,
       [this](uint64_t n) { return ebb_make_room(n, own, 64, nullptr); }},
      {"ebb_memory_read", kContext, [this](uint64_t n) { return ebb_memory_read(n, 0, &memory); }},
      {"ebb_report", kContext, [this](uint64_t n) { return ebb_report(n, nullptr, &text); }},
  };
}

std::vector<CapiForgedNames::Call> CapiForgedNames::calls_by_handle() {
  return {
      {"ebb_tensor_view", kHandle,
       [this](uint64_t n) { return ebb_tensor_view(context, n, 0, &spec, &made); }},
      {"ebb_tensor_rebook", kHandle,
       [this](uint64_t n) { return ebb_tensor_rebook(context, n, 0, 8); }},
      {"ebb_tensor_describe", kHandle,
       [this](uint64_t n) { return ebb_tensor_describe(context, n, &info); }},
      {"ebb_hold_acquire", kHandle,
       [this](uint64_t n) { return ebb_hold_acquire(context, n, &made); }},
      {"ebb_tensor_write", kHandle,
       [this](uint64_t n) { return ebb_tensor_write(context, n, bytes.data(), 64); }},
      {"ebb_tensor_read", kHandle,
       [this](uint64_t n) { return ebb_tensor_read(context, n, bytes.data(), 64); }},
      {"ebb_read_begin", kHandle,
       [this](uint64_t n) { return ebb_read_begin(context, n, &made, &made); }},
      {"ebb_op_run", kHandle,
       [this](uint64_t n) {
         return ebb_op_run(context, own, op, &n, 1, nullptr, 0, &result, 1, &count);
       }},
      {"ebb_program_begin", kHandle,
       [this](uint64_t n) { return ebb_program_begin(context, &n, 1, 0, &made); }},
      {"ebb_tensor_copy_to", kHandle,
       [this](uint64_t n) { return ebb_tensor_copy_to(context, n, own, &result); }},
      {"ebb_region_attach", kHandle,
       [this](uint64_t n) { return ebb_region_attach(context, region, n); }},
      {"ebb_region_move_to_parent", kHandle,
       [this](uint64_t n) { return ebb_region_move_to_parent(context, n); }},
      {"ebb_region_shortest_lived", kHandle,
       [this](uint64_t n) { return ebb_region_shortest_lived(context, &n, 1, &made); }},
      {"ebb_tensor_dispose", kHandle, [this](uint64_t n) { return ebb_tensor_dispose(context, n); },
       Stale::kHarmless},
      {"ebb_tensors_end", kHandle,
       [this](uint64_t n) { return ebb_tensors_end(context, &n, 1, EBB_ENDED_DISPOSED); },
       Stale::kHarmless},
      {"ebb_orphan", kNotice, [this](uint64_t n) { return (ebb_orphan(n), EBB_OK); },
       Stale::kHarmless},
  };
}

std::vector<CapiForgedNames::Call> CapiForgedNames::calls_by_others() {
  return {
      {"ebb_tensor_create", kRegion,
       [this](uint64_t n) { return (spec.region = n, ebb_tensor_create(context, &spec, &made)); }},
      {"ebb_tensor_adopt", kRegion,
       [this](uint64_t n) {
         return (theirs.region = n, ebb_tensor_adopt(context, &theirs, &made));
       }},
      {"ebb_region_open", kRegion,
       [this](uint64_t n) { return ebb_region_open(context, n, nullptr, &made); }},
      {"ebb_region_attach", kRegion,
       [this](uint64_t n) { return ebb_region_attach(context, n, handles[0]); }},
      {"ebb_hold_data", kHold,
       [this](uint64_t n) { return ebb_hold_data(context, n, &data, &made); }},
      {"ebb_read_poll", kRead, [this](uint64_t n) { return ebb_read_poll(n, &done); }},
      {"ebb_read_end", kRead, [this](uint64_t n) { return ebb_read_end(n, bytes.data(), 64); }},
      {"ebb_device_close", kDevice,
       [this](uint64_t n) { return ebb_device_close(static_cast<uint32_t>(n)); }},
      {"ebb_device_set_budget", kDevice,
       [this](uint64_t n) {
         return ebb_device_set_budget(static_cast<uint32_t>(n), 0, EBB_BUDGET_HARD);
       }},
      {"ebb_device_describe", kDevice,
       [this](uint64_t n) { return ebb_device_describe(static_cast<uint32_t>(n), &device_info); }},
      {"ebb_device_trim", kDevice,
       [this](uint64_t n) { return ebb_device_trim(static_cast<uint32_t>(n), 1, &made); }},
      {"ebb_tensor_create", kDevice,
       [this](uint64_t n) {
         return (spec.device = static_cast<uint32_t>(n), ebb_tensor_create(context, &spec, &made));
       }},
      {"ebb_tensor_adopt", kDevice,
       [this](uint64_t n) {
         return (theirs.device = static_cast<uint32_t>(n),
                 ebb_tensor_adopt(context, &theirs, &made));
       }},
      {"ebb_tensor_rebook", kDevice,
       [this](uint64_t n) {
         return ebb_tensor_rebook(context, adopted, static_cast<uint32_t>(n), 8);
       }},
      {"ebb_op_run", kDevice,
       [this](uint64_t n) {
         return ebb_op_run(context, static_cast<uint32_t>(n), op, handles.data(), 1, nullptr, 0,
                           &result, 1, &count);
       }},
      {"ebb_tensor_copy_to", kDevice,
       [this](uint64_t n) {
         return ebb_tensor_copy_to(context, handles[0], static_cast<uint32_t>(n), &result);
       }},
      {"ebb_safe_point", kDevice,
       [this](uint64_t n) {
         return ebb_safe_point(context, static_cast<uint32_t>(n), 0, 0, nullptr);
       }},
      {"ebb_make_room", kDevice,
       [this](uint64_t n) {
         return ebb_make_room(context, static_cast<uint32_t>(n), 64, nullptr);
       }},
      {"ebb_memory_read", kDevice,
       [this](uint64_t n) { return ebb_memory_read(context, static_cast<uint32_t>(n), &memory); }},
      {"ebb_tensor_create", kStream,
       [this](uint64_t n) {
         return (spec.stream = static_cast<uint32_t>(n), ebb_tensor_create(context, &spec, &made));
       }},
      {"ebb_region_close", kRegion, [this](uint64_t n) { return ebb_region_close(context, n); },
       Stale::kHarmless},
      {"ebb_hold_release", kHold, [this](uint64_t n) { return ebb_hold_release(context, n); },
       Stale::kHarmless},
      {"ebb_read_drop", kRead, [this](uint64_t n) { return ebb_read_drop(n); }, Stale::kHarmless},
  };
}

TEST_F(CapiForgedNames, NoneIsAccepted) {
  const uint64_t tries = ebb::test::from_environment("EBB_FORGED_NAMES", 300'000);
  constexpr uint64_t kRound = 10'000;
  std::vector<Call> calls = calls_by_context();
  for (auto more : {calls_by_handle(), calls_by_others()}) {
    calls.insert(calls.end(), more.begin(), more.end());
  }
  const Books mine = books(context), theirs_before = books(other);
  for (uint64_t done = 0; done < tries;) {
    for (uint64_t i = 0; i < kRound && done < tries; ++i, ++done) {
      const Call& call = calls[done % calls.size()];
      const uint64_t name = forge_invalid(call.kind);
      spec = spec_of(64);
      theirs = foreign_spec(0, 100);
      const ebb_status status = call.run(name);
      const bool refused = status != EBB_OK || call.stale == Stale::kHarmless;
      ASSERT_TRUE(refused) << call.name << " accepted " << name;
    }
    ASSERT_EQ(books(context), mine);
    ASSERT_EQ(books(other), theirs_before);
    ASSERT_OK(ebb_audit());
  }
  ebb::test::note("names: {} forged, stale and foreign ones against {} calls, 0 accepted", tries,
                  calls.size());
  for (const ebb_handle each : handles) EXPECT_FALSE(stale(each));
}

}  // namespace
