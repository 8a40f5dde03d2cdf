// Places in a recording at which reading can begin, so that a span costs what is in it and not what
// lies before it. Kept while all of it is read for the first time: the format has no such places,
// since what an event says depends on those before it.
//
// They stand as far apart as they are large, and where they would take too much, every second one
// goes and they come half as often.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "cli/history.hpp"
#include "observe/recording_reader.hpp"
#include "observe/replay.hpp"

namespace ebb::cli {

struct IndexedPlace {
  std::uint64_t time = 0;  // nothing before it is later, nothing after it earlier
  std::size_t bytes = 0;   // what it takes here, about
  observe::ReadingPlace place;
  observe::Replay living;  // Replay::from_here
  History history;         // of which only who lives counts
};

class RecordingIndex {
 public:
  explicit RecordingIndex(std::uint64_t step, std::size_t most_bytes = 512u << 20)
      : step_(step), most_bytes_(most_bytes) {}

  // Keeps it, or does not. From one thread, front to back.
  void offer(const observe::ReadingPlace& place, const observe::Replay& replay,
             const History& history);
  // The last one before that time; null: read from the front. Any thread.
  std::shared_ptr<const IndexedPlace> before(std::uint64_t time) const;
  std::size_t places() const;

 private:
  void thin_out();

  std::uint64_t step_;  // of the file's bytes, at least
  const std::size_t most_bytes_;
  std::size_t last_file_ = 0;
  std::uint64_t last_offset_ = 0;
  std::size_t bytes_ = 0;
  mutable std::mutex mutex_;  // guards the list
  std::vector<std::shared_ptr<const IndexedPlace>> places_;
};

}  // namespace ebb::cli
