// Writes a recording: what it is told, in blocks. Used by one thread at a time.
#pragma once

#include <map>
#include <string>

#include "observe/block_codec.hpp"
#include "observe/event_codec.hpp"
#include "observe/live_source.hpp"
#include "observe/segment_file.hpp"

namespace ebb::observe {

struct RecordingOptions {
  std::string path;
  std::string name;  // what is recorded, for people
  Mode mode = Mode::kSampled;
  std::uint64_t most_bytes = 0;    // 0: no limit
  std::uint64_t sample_bytes = 0;  // 0: the usual
};

class RecordingWriter {
 public:
  // Begins the first segment. All throw Error(kDevice) where the system refuses to write.
  RecordingWriter(const RecordingOptions& options, LiveSource& source);

  void add(std::uint32_t thread, const TraceEvent& event);
  void add(const Counters& counters);
  void mark(std::uint64_t time, std::string_view text);
  // Stays with the recording: the segments after this one begin with it.
  void holder(std::uint64_t time, std::uint32_t site, std::string_view text);
  // Events are missing here. A checkpoint follows when all that was there has been added.
  void lost(std::uint64_t events);
  void checkpoint(Because because);
  void set_mode(Mode mode);
  // What was added goes to the file, and the next segment begins where this one is full.
  void flush();
  void end();

  std::uint64_t bytes() const noexcept { return file_.bytes(); }
  std::uint64_t events() const noexcept { return added_; }
  std::uint32_t segment() const noexcept { return file_.segment(); }
  int descriptor() const noexcept { return file_.descriptor(); }
  const std::string& id() const noexcept { return id_; }

 private:
  static constexpr std::size_t kTensorsInBlock = 1u << 16;
  static constexpr std::size_t kMostHistory = 128;
  static constexpr std::size_t kMostHolders = 1024, kMostHolderText = 4096;

  void begin_segment(Because because);
  void write_meta();
  void write_events();
  void begin_next_if_full();
  void write_new_sites();
  void write_devices_if_changed();
  struct Checkpoint {
    std::vector<LiveTensor> tensors;
    std::vector<WireWriter> blocks;
    std::uint64_t bytes() const;
  };
  Checkpoint checkpoint_of(Because because);
  void write_checkpoint(const Checkpoint& checkpoint);
  void write_books(WireWriter& out);
  void remember(const Counters& counters);
  void write_holder(std::uint32_t site);

  RecordingOptions options_;
  LiveSource& source_;
  const std::string id_;
  SegmentFile file_;
  WireWriter events_;
  std::unique_ptr<EventEncoder> encoder_;
  std::uint32_t sites_ = 0;             // written to this segment
  std::vector<std::uint32_t> devices_;  // ids, by index, as written
  std::vector<Counters> history_;       // of the segments before, thinned out
  std::uint64_t history_step_ = 1, history_left_ = 0;
  struct Holder {
    std::uint64_t time = 0;
    std::string text;
  };
  std::map<std::uint32_t, Holder> holders_;  // by site, the last that was said
  std::uint64_t added_ = 0;
};

std::uint64_t steady_now() noexcept;

}  // namespace ebb::observe
