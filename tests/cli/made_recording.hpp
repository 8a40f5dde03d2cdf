// Recordings that a test makes up: twenty seconds of a server, at any speed.
#pragma once

#include <deque>

#include "ebb/memory/site_table.hpp"
#include "observe/recording_writer.hpp"

namespace ebb::test {

inline constexpr std::string_view kLeak = "handle (/srv/app.js:42:7)\nlisten (/srv/app.js:80:3)";
inline constexpr std::string_view kTemporary = "predict (/srv/model.js:7:12)";
inline constexpr std::string_view kHostileFrame =
    "</script><script>alert(1)</script>\x1b[31m; `|` \u202E\xFF\x07 (evil.js:1:2)";

class MadeRecording final : public observe::LiveSource {
 public:
  explicit MadeRecording(const std::string& path, observe::Mode mode = observe::Mode::kFull)
      : writer_({.path = path,
                 .name = "app.js",
                 .mode = mode,
                 .most_bytes = 0,
                 .sample_bytes = 512u << 10},
                *this),
        time_(observe::steady_now()) {}

  void make(std::string_view site, std::uint64_t bytes) {
    const std::uint64_t slot = next_slot_++;
    const TraceEvent birth{.id = std::uint64_t{1} << 24 | slot,
                           .bytes = bytes,
                           .storage = 0x10000 * (slot + 1),
                           .site = site.empty() ? 0 : SiteTable::instance().intern(site),
                           .kind = kTensorBorn,
                           .detail = 1,
                           .device = 1,
                           .flags = kWithStorage,
                           .time = time_};
    live_.push_back({.birth = birth, .rank = 2, .dims = {32, 784}});
    writer_.add(1, birth);
    ++books_.created;
    ++books_.live;
    books_.created_storages.add(bytes);
    books_.storages.add(bytes);
  }
  // The newest.
  void end(Reason reason) {
    TraceEvent event = live_.back().birth;
    live_.pop_back();
    event.kind = kTensorEnded;
    event.site = 0;
    event.detail = static_cast<std::uint8_t>(reason);
    event.time = time_;
    writer_.add(1, event);
    --books_.live;
    ++books_.ended[event.detail];
    books_.ended_bytes[event.detail] += event.bytes;
    books_.storages.remove(event.bytes);
  }
  void pass_ms(std::uint64_t ms) {
    time_ += ms * 1'000'000;
    writer_.add(observe::Counters{.time = time_,
                                  .resident = 100 << 20,
                                  .host_heap = 20 << 20,
                                  .orphans = 3,
                                  .devices = {{1, books_.storages.bytes, 64 << 20, 256 << 20}}});
  }
  void mark(std::string_view text) { writer_.mark(time_, text); }
  void stop() {
    writer_.checkpoint(observe::Because::kStopped);
    writer_.end();
  }

  void for_each_live(const std::function<void(const observe::LiveTensor&)>& use) override {
    for (const auto& tensor : live_) use(tensor);
  }
  Books books(std::uint8_t) override { return books_; }
  std::uint64_t orphans() override { return 0; }

 private:
  std::deque<observe::LiveTensor> live_;
  Books books_;
  observe::RecordingWriter writer_;
  std::uint64_t time_;
  std::uint64_t next_slot_ = 0;
};

// Twenty seconds: a temporary at each request; where it leaks, one tensor of 40 KB more each 10 ms.
inline void play_server(MadeRecording& recording, std::string_view leak) {
  for (int i = 0; i < 40; ++i) recording.make(kTemporary, 1 << 20);  // the model
  for (int turn = 0; turn < 2000; ++turn) {
    if (!leak.empty()) recording.make(leak, 40 << 10);
    recording.make(kTemporary, 1 << 20);
    recording.end(Reason::kReclaimed);
    recording.pass_ms(10);
    if (turn == 1000) recording.mark("half way");
  }
  recording.stop();
}

}  // namespace ebb::test
