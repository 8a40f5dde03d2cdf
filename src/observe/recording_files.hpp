// A recording on disk: its file and, before it, those of its segments that are still there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "observe/recording_reader.hpp"

namespace ebb::observe {

class InputFile;

// Open, so that they stay the same ones where their process goes on to the next. Any thread may read.
class RecordingFiles {
 public:
  // Throws Error(kDevice) where the file cannot be read, Error(kInvalidArgument) where it is no
  // recording.
  explicit RecordingFiles(const std::string& path);
  ~RecordingFiles();
  RecordingFiles(const RecordingFiles&) = delete;
  RecordingFiles& operator=(const RecordingFiles&) = delete;

  // Front to back. Throws as the constructor does.
  ReadResult read(RecordingVisitor& visitor) const;
  // Pre: a visitor of read() was told this place. It hears what that one heard from there on.
  ReadResult read_from(const ReadingPlace& place, RecordingVisitor& visitor) const;

 private:
  ReadResult read_later(std::size_t first, ReadResult sum, RecordingVisitor& visitor) const;

  std::vector<std::unique_ptr<InputFile>> files_;  // oldest first; not empty
};

// As RecordingFiles(path).read(visitor).
ReadResult read_recording(const std::string& path, RecordingVisitor& visitor);

// One file of it. Throws as read_recording does.
ReadResult read_segment_file(const std::string& path, RecordingVisitor& visitor);
// Those of the segments before `segment` that are still there without a gap, down to `oldest`,
// oldest first. Pre: `path` and `recording` are the recording's, as META says.
std::vector<std::string> earlier_segments(const std::string& path, const std::string& recording,
                                          std::uint64_t segment, std::uint64_t oldest);

}  // namespace ebb::observe
