// The files of a recording. What is full is renamed to `<path>.<number>` and a new one begins; only
// the last few are kept, so that all of them together stay within a limit.
//
// Blocks go to the system whole, in one write each where it takes them: a process that is killed
// leaves every block that was written, and at most one that is cut short, at the end.
#pragma once

#include <cstdint>
#include <string>

#include "observe/format.hpp"
#include "observe/wire.hpp"

namespace ebb::observe {

class SegmentFile {
 public:
  static constexpr std::uint64_t kLeastBytes = 512u << 10;
  static constexpr std::uint32_t kSegments = 4;

  // `most`: bytes of all segments together; 0: no limit, one segment. Throws Error(kDevice) where
  // the file cannot be made, as all of it where the system refuses.
  SegmentFile(std::string path, std::uint64_t most);
  SegmentFile(const SegmentFile&) = delete;
  SegmentFile& operator=(const SegmentFile&) = delete;

  void write(BlockType type, const WireWriter& payload);
  // What begins every segment has been written. Throws Error(kWrongState) where it alone takes more
  // than half of a segment.
  void opening_ends();
  // What a block may have, so that there is room for a few more when a segment is called full.
  std::size_t block_bytes() const noexcept;
  // Whether it is time for the next segment.
  bool full() const noexcept { return !has_room(3 * block_bytes()); }
  bool has_room(std::uint64_t bytes) const noexcept {
    return most_ == 0 || in_segment_ + bytes <= most_in_segment();
  }
  void rotate();
  // A recording's files, the last of which has this number.
  static void remove(const std::string& path, std::uint32_t segment) noexcept;

  std::uint32_t segment() const noexcept { return segment_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  int descriptor() const noexcept { return file_.descriptor; }

 private:
  // Closed also where the header cannot be written.
  struct OpenFile {
    ~OpenFile() { close(); }
    void close() noexcept;
    int descriptor = -1;
  };

  void open();
  void put(const std::uint8_t* bytes, std::size_t count);
  std::uint64_t most_in_segment() const noexcept { return most_ / kSegments; }
  static std::string name_of(const std::string& path, std::uint32_t segment);

  const std::string path_;
  const std::uint64_t most_;
  OpenFile file_;
  std::uint32_t segment_ = 0;
  std::uint64_t in_segment_ = 0;
  std::uint64_t bytes_ = 0;  // ever written
};

}  // namespace ebb::observe
