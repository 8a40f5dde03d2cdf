// Recording: the door to observe, and what observe asks of the layers it cannot see.
#include <cstdio>

#include "capi/books_source.hpp"
#include "capi/names.hpp"
#include "capi/sized.hpp"
#include "ebb/memory/device.hpp"
#include "observe/recorder.hpp"
#include "observe/sampler.hpp"
#include "tensor/live_tensors.hpp"

namespace ebb::capi {

void BooksSource::for_each_live(const std::function<void(const observe::LiveTensor&)>& use) {
  for_each_live_tensor(
      [&](const LiveRow& row) { use({.birth = row.birth, .rank = row.rank, .dims = row.dims}); });
}

Books BooksSource::books(std::uint8_t device) {
  const Device* on = Device::at(device);
  return on == nullptr ? Books() : books_as_they_are(*on);
}

std::uint64_t BooksSource::orphans() { return orphans_waiting(); }

BooksSource& BooksSource::instance() {
  static BooksSource& only = *std::make_unique<BooksSource>().release();  // asked until the exit
  return only;
}

}  // namespace ebb::capi

using namespace ebb;        // NOLINT: the C functions below are not in it
using namespace ebb::capi;  // NOLINT

extern "C" {

ebb_status ebb_record_start(const ebb_record_options* options) {
  return guarded([&] {
    const ebb_record_options given = read_sized(options, "record_start");
    observe::RecordingOptions wanted;
    wanted.path = given.path == nullptr ? "" : given.path;
    if (given.path != nullptr && wanted.path.empty()) {
      raise(ErrorKind::kInvalidArgument, "[record_start] an empty path was given");
    }
    wanted.name = given.name == nullptr ? "" : given.name;
    wanted.mode = observe::Mode(std::min<std::uint32_t>(given.mode, 255));
    wanted.most_bytes = given.max_bytes;
    wanted.sample_bytes = given.sample_bytes;
    observe::Recorder::instance().start(std::move(wanted), BooksSource::instance());
  });
}

ebb_status ebb_record_set_mode(uint32_t mode) {
  return guarded([&] {
    observe::Recorder::instance().set_mode(observe::Mode(std::min<std::uint32_t>(mode, 255)));
  });
}

ebb_status ebb_record_mark(const char* text) {
  return guarded([&] { observe::Recorder::instance().mark(&needed(text, "record_mark")); });
}

ebb_status ebb_record_stop(void) {
  return guarded([] { observe::Recorder::instance().stop(); });
}

int ebb_record_wants_site(uint64_t bytes) { return observe::wants_site(bytes) ? 1 : 0; }

void ebb_record_host_heap(uint64_t bytes) { observe::Recorder::instance().set_host_heap(bytes); }

ebb_status ebb_record_read(ebb_record_info* info) {
  return guarded([&] {
    const SizedOutput output(info, "record_read");
    const observe::RecorderState state = observe::Recorder::instance().state();
    ebb_record_info out{};
    out.mode = static_cast<std::uint32_t>(state.mode);
    out.bytes = state.bytes;
    out.events = state.events;
    out.lost = state.lost;
    out.sample_bytes = state.sample_bytes;
    out.segments = state.segments;
    out.failed = state.error.empty() ? 0 : 1;
    output.write(out);
  });
}

ebb_status ebb_record_holder(uint32_t site, const char* text) {
  return guarded(
      [&] { observe::Recorder::instance().holder(site, &needed(text, "record_holder")); });
}

ebb_status ebb_live_start(const ebb_live_options* options) {
  return guarded([&] {
    observe::LiveOptions wanted;
    if (options != nullptr) {
      const ebb_live_options given = read_sized(options, "live_start");
      wanted = {.asked = given.asked, .user = given.user};
    }
    observe::Recorder::instance().start_live(wanted);
  });
}

ebb_status ebb_live_stop(void) {
  return guarded([] { observe::Recorder::instance().stop_live(); });
}

ebb_status ebb_live_read(ebb_live_info* info) {
  return guarded([&] {
    const SizedOutput output(info, "live_read");
    const observe::LiveState state = observe::Recorder::instance().live();
    ebb_live_info out{};
    out.on = state.on ? 1 : 0;
    out.answered = state.answered;
    std::snprintf(out.path, sizeof out.path, "%s", state.path.c_str());
    output.write(out);
  });
}

}  // extern "C"
