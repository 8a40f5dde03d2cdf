// Recordings that a test makes up: twenty seconds of a server, at any speed.
#pragma once

#include <map>

#include "ebb/memory/site_table.hpp"
#include "observe/recording_writer.hpp"

namespace ebb::test {

inline constexpr std::string_view kLeak = "handle (/srv/app.js:42:7)\nlisten (/srv/app.js:80:3)";
inline constexpr std::string_view kTemporary = "predict (/srv/model.js:7:12)";
inline constexpr std::string_view kHostileFrame =
    "</script><script>alert(1)</script>\x1b[31m; `|` \u202E\xFF\x07 (evil.js:1:2)";

class MadeRecording final : public observe::LiveSource {
 public:
  // `foreign`: storages are another runtime's, named by numbers that are no addresses.
  explicit MadeRecording(const std::string& path, observe::Mode mode = observe::Mode::kFull,
                         bool foreign = false)
      : writer_({.path = path,
                 .name = "app.js",
                 .mode = mode,
                 .most_bytes = 0,
                 .sample_bytes = 512u << 10},
                *this),
        has_events_(mode != observe::Mode::kCounters),
        foreign_(foreign),
        time_(observe::steady_now()) {}

  // Returns its name.
  std::uint64_t make(std::string_view site, std::uint64_t bytes) {
    const TraceEvent birth{.id = new_handle(),
                           .bytes = bytes,
                           .storage = taken(bytes),
                           .site = site.empty() ? 0 : SiteTable::instance().intern(site),
                           .kind = kTensorBorn,
                           .detail = 1,
                           .device = 1,
                           .flags = kWithStorage,
                           .time = time_};
    newest_ = birth.id;
    live_[birth.id] = {.birth = birth, .rank = 2, .dims = {32, 784}};
    if (has_events_) writer_.add(1, birth);
    ++books_.created;
    ++books_.live;
    books_.created_storages.add(bytes);
    books_.storages.add(bytes);
    return birth.id;
  }
  // The newest.
  void end(Reason reason) { end(newest_, reason); }
  void end(std::uint64_t id, Reason reason) {
    TraceEvent event = live_.at(id).birth;
    live_.erase(id);
    free_[event.bytes].push_back(event.storage);
    free_handles_.push_back(id);
    event.kind = kTensorEnded;
    event.site = 0;
    event.detail = static_cast<std::uint8_t>(reason);
    event.time = time_;
    if (has_events_) writer_.add(1, event);
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
                                  .devices = {{1, books_.storages.bytes, committed(), 256 << 20}}});
  }
  void mark(std::string_view text) { writer_.mark(time_, text); }
  void collect(std::uint64_t ns) {
    writer_.add(1, {.id = ns, .kind = kCollected, .detail = 1, .time = time_});
  }
  void hold(std::string_view site, std::string_view by) {
    writer_.holder(time_, SiteTable::instance().intern(site), by);
  }
  void stop() {
    writer_.checkpoint(observe::Because::kStopped);
    writer_.end();
  }

  void for_each_live(const std::function<void(const observe::LiveTensor&)>& use) override {
    for (const auto& [id, tensor] : live_) use(tensor);
  }
  Books books(std::uint8_t) override { return books_; }
  std::uint64_t orphans() override { return 0; }

 private:
  std::uint64_t committed() const {
    constexpr std::uint64_t kStep = 16 << 20;
    return (next_address_ - 0x7f0000000000 + kStep - 1) / kStep * kStep;
  }
  // As a table of handles does: the slot that came free last, and its next generation but one.
  std::uint64_t new_handle() {
    if (free_handles_.empty()) return std::uint64_t{1} << 24 | next_slot_++;
    const std::uint64_t handle = free_handles_.back() + (std::uint64_t{2} << 24);
    free_handles_.pop_back();
    return handle;
  }
  // As a pool does: what came free last, of that size, or what was never used.
  std::uint64_t taken(std::uint64_t bytes) {
    if (foreign_) return ++next_number_;
    std::vector<std::uint64_t>& free = free_[bytes];
    if (free.empty()) {
      next_address_ += bytes;
      return next_address_ - bytes;
    }
    const std::uint64_t address = free.back();
    free.pop_back();
    return address;
  }

  std::map<std::uint64_t, observe::LiveTensor> live_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> free_;
  std::uint64_t next_address_ = 0x7f0000000000;
  std::uint64_t next_number_ = 0;
  Books books_;
  observe::RecordingWriter writer_;
  bool has_events_, foreign_;
  std::uint64_t time_;
  std::uint64_t newest_ = 0;
  std::uint64_t next_slot_ = 0;
  std::vector<std::uint64_t> free_handles_;
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

// Thirty seconds of training and serving in one process: careless temporaries, given back at each
// collection, and three leaks, of which the host said what holds two.
inline void play_three_leaks(MadeRecording& recording) {
  constexpr std::string_view kLoop = "\ntrain (/srv/train.js:61:5)\nmain (/srv/server.js:12:1)";
  constexpr std::string_view kServe =
      "\nhandle (/srv/server.js:42:9)\nonRequest (/srv/server.js:30:3)\nmain (/srv/server.js:14:1)";
  const auto in = [](std::string_view frame, std::string_view callers) {
    return std::string(frame) + std::string(callers);
  };
  const std::string history = in("trainOnBatch (/srv/train.js:70:21)", kLoop);
  const std::string features = in("embed (/srv/features.js:18:12)", kServe);
  const std::string session = in("remember (/srv/session.js:9:5)", kServe);
  const std::string temporaries[] = {
      in("relu (/srv/model.js:31:10)\nforward (/srv/model.js:25:7)", kLoop),
      in("matMul (/srv/model.js:30:14)\nforward (/srv/model.js:25:7)", kLoop),
      in("gradients (/srv/train.js:66:15)", kLoop), in("decode (/srv/image.js:11:8)", kServe)};
  for (int i = 0; i < 12; ++i)
    recording.make("load (/srv/model.js:12:9)\nmain (/srv/server.js:10:1)", 2 << 20);
  std::vector<std::uint64_t> careless;
  for (int turn = 0; turn < 3000; ++turn) {
    for (int i = 0; i < 4; ++i) {
      careless.push_back(recording.make(temporaries[i], (64u << 10) << (turn + i) % 4));
    }
    if (turn % 3 == 0) recording.make(features, 48 << 10);
    if (turn % 10 == 0) recording.make(history, 40 << 10);
    if (turn % 25 == 0) recording.make(session, 64 << 10);
    if (turn % 40 == 39) {
      for (const std::uint64_t id : careless) recording.end(id, Reason::kReclaimed);
      careless.clear();
      recording.collect(1'800'000);
    }
    recording.pass_ms(10);
    if (turn % 1000 == 999) recording.mark("epoch " + std::to_string(turn / 1000 + 1));
  }
  recording.hold(features, "global.cache (Map) -> .features (Array)");
  recording.hold(history, "train.losses (Array) -> [0] (Tensor)");
  recording.stop();
}

// So many events, at 300 places, over a minute and a half.
inline void play_many(MadeRecording& recording, std::uint64_t events) {
  std::vector<std::string> sites;
  for (int i = 0; i < 300; ++i) {
    sites.push_back("op" + std::to_string(i) + " (/srv/ops.js:" + std::to_string(i + 1) +
                    ":1)\nlayer" + std::to_string(i % 20) + " (/srv/layers.js:" +
                    std::to_string(i % 20 + 1) + ":1)\nmain (/srv/main.js:1:1)");
  }
  std::vector<std::uint64_t> live;
  std::uint64_t random = 1;
  for (std::uint64_t i = 0; i < events; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t drawn = random >> 33;
    if (live.size() < 1000 || (drawn % 2 == 0 && live.size() < 3000)) {
      live.push_back(recording.make(sites[drawn % 300], 1024u << drawn / 300 % 10));
    } else {
      std::swap(live[drawn / 2 % live.size()], live.back());
      recording.end(live.back(), drawn % 3 == 0 ? Reason::kReclaimed : Reason::kDisposed);
      live.pop_back();
    }
    if (i % (events / 900 + 1) == 0) recording.pass_ms(100);
  }
  recording.stop();
}

}  // namespace ebb::test
