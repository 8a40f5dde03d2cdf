// Reads a recording front to back and tells a visitor what is in it.
//
// A recording that its process could not end (it was killed) is read as far as it goes. Blocks of a
// kind that this version does not know are skipped; a newer major version is refused. Whatever else
// the bytes say, reading ends with what they told or with an Error, never otherwise.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "observe/block_codec.hpp"
#include "observe/event_codec.hpp"

namespace ebb::observe {

class RecordingVisitor {
 public:
  virtual ~RecordingVisitor() = default;

  // Asked before each block of events: false skips it. What is left tells what was held over time,
  // and who lived at checkpoints, in a fraction of the time.
  virtual bool wants_events() { return true; }
  // At the beginning of each segment, and where the mode changes.
  virtual void on_meta(const Meta&) {}
  virtual void on_device(const DeviceEntry&) {}
  virtual void on_site(std::uint32_t, std::string_view) {}
  virtual void on_event(const ThreadEvent&) {}
  virtual void on_checkpoint(const Checkpoint&) {}
  virtual void on_counters(const Counters&) {}
  virtual void on_mark(std::uint64_t, std::string_view) {}
  virtual void on_lost(std::uint64_t, std::uint64_t) {}
  // What holds the tensors of a site, as the host found out.
  virtual void on_holder(std::uint64_t, std::uint32_t, std::string_view) {}
};

struct ReadResult {
  bool ended = false;         // it was stopped, not cut short
  std::uint64_t bytes = 0;    // that made sense
  std::uint64_t skipped = 0;  // blocks of an unknown kind
  std::uint32_t segments = 0;
};

// One segment. `take` gives up to so many bytes, 0 at the end.
using TakeBytes = std::function<std::size_t(std::uint8_t*, std::size_t)>;
ReadResult read_segment(const TakeBytes& take, RecordingVisitor& visitor);
ReadResult read_segment(std::span<const std::uint8_t> bytes, RecordingVisitor& visitor);

// The file and, before it, those of its segments that are still there. Throws Error(kDevice) where
// the file cannot be read, Error(kInvalidArgument) where it is no recording.
ReadResult read_recording(const std::string& path, RecordingVisitor& visitor);

// One file of it. Throws as read_recording does.
ReadResult read_segment_file(const std::string& path, RecordingVisitor& visitor);
// Those of the segments before `segment` that are still there without a gap, down to `oldest`,
// oldest first. Pre: `path` and `recording` are the recording's, as META says.
std::vector<std::string> earlier_segments(const std::string& path, const std::string& recording,
                                          std::uint64_t segment, std::uint64_t oldest);

}  // namespace ebb::observe
