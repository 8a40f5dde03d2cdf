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

// How far a reader has got, and what it knows there: another may go on from it.
struct ReadingPlace {
  std::size_t file = 0;      // of RecordingFiles
  std::uint64_t offset = 0;  // of a block in it
  EventDecoder decoder;
};

class RecordingVisitor {
 public:
  virtual ~RecordingVisitor() = default;

  // Asked before each block of events: false skips it. What is left tells what was held over time,
  // and who lived at checkpoints, in a fraction of the time.
  virtual bool wants_events() { return true; }
  // Before each block of events that is wanted; a copy is good for read_from.
  virtual void on_place(const ReadingPlace&) {}
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
// `file`: what its places say.
ReadResult read_segment(const TakeBytes& take, RecordingVisitor& visitor, std::size_t file = 0);
ReadResult read_segment(std::span<const std::uint8_t> bytes, RecordingVisitor& visitor);
// The rest of one. Pre: `take` begins at the place's offset.
ReadResult read_segment_from(const ReadingPlace& place, const TakeBytes& take,
                             RecordingVisitor& visitor);

}  // namespace ebb::observe
