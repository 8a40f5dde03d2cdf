#include "observe/recording_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/file_calls.hpp"
#include "ebb/base/error.hpp"

namespace ebb::observe {

class InputFile {
 public:
  explicit InputFile(const std::string& path) : path_(path) {
    file_ = uninterrupted(
        [&] { return FileCalls::current().open(path.c_str(), O_RDONLY | O_CLOEXEC, 0); });
    if (file_ < 0) fail();
  }
  ~InputFile() { FileCalls::current().close(file_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Its bytes from there on, in order.
  TakeBytes bytes_from(std::uint64_t offset) const {
    return [this, at = static_cast<off_t>(offset)](std::uint8_t* to, std::size_t count) mutable {
      const ssize_t got =
          uninterrupted([&] { return FileCalls::current().pread(file_, to, count, at); });
      if (got < 0) fail();
      at += got;
      return static_cast<std::size_t>(got);
    };
  }

 private:
  [[noreturn]] void fail() const {
    raise(ErrorKind::kDevice, "[recording] cannot read {}: {}", path_,
          std::generic_category().message(errno));
  }
  const std::string path_;
  int file_ = -1;
};

namespace {

// What a file says of itself before anything else, and no more of it.
Meta meta_of(const InputFile& file) {
  struct Found {
    Meta meta;
  };
  class First : public RecordingVisitor {
    void on_meta(const Meta& meta) override { throw Found{meta}; }
  };
  First first;
  try {
    read_segment(file.bytes_from(0), first);
  } catch (const Found& found) {
    return found.meta;
  }
  return {};
}

std::string fact(const Meta& meta, std::string_view name) {
  const auto found = meta.find(name);
  return found == meta.end() ? std::string() : found->second;
}

// "" where there is no such file, or it is no recording, whoever's it may be.
std::string recording_of(const std::string& path) {
  try {
    return fact(meta_of(InputFile(path)), "recording");
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

RecordingFiles::RecordingFiles(const std::string& path) {
  auto last = std::make_unique<InputFile>(path);
  const Meta meta = meta_of(*last);
  const std::uint64_t segment = std::strtoull(fact(meta, "segment").c_str(), nullptr, 10);
  for (const std::string& earlier : earlier_segments(path, fact(meta, "recording"), segment, 0)) {
    files_.push_back(std::make_unique<InputFile>(earlier));
  }
  files_.push_back(std::move(last));
}

RecordingFiles::~RecordingFiles() = default;

ReadResult RecordingFiles::read(RecordingVisitor& visitor) const {
  return read_later(0, {}, visitor);
}

ReadResult RecordingFiles::read_from(const ReadingPlace& place, RecordingVisitor& visitor) const {
  const ReadResult rest =
      read_segment_from(place, files_.at(place.file)->bytes_from(place.offset), visitor);
  return read_later(place.file + 1, rest, visitor);
}

ReadResult RecordingFiles::read_later(std::size_t first, ReadResult sum,
                                      RecordingVisitor& visitor) const {
  for (std::size_t i = first; i < files_.size(); ++i) {
    const ReadResult each = read_segment(files_[i]->bytes_from(0), visitor, i);
    sum.ended = each.ended;
    sum.bytes += each.bytes;
    sum.skipped += each.skipped;
    sum.segments += each.segments;
  }
  return sum;
}

ReadResult read_recording(const std::string& path, RecordingVisitor& visitor) {
  return RecordingFiles(path).read(visitor);
}

ReadResult read_segment_file(const std::string& path, RecordingVisitor& visitor) {
  const InputFile file(path);
  return read_segment(file.bytes_from(0), visitor);
}

std::vector<std::string> earlier_segments(const std::string& path, const std::string& recording,
                                          std::uint64_t segment, std::uint64_t oldest) {
  std::vector<std::string> found;
  for (std::uint64_t back = 1; back <= std::min<std::uint64_t>(segment, 64); ++back) {
    if (segment - back < oldest) break;
    std::string earlier = fmt::format("{}.{}", path, segment - back);
    if (recording.empty() || recording_of(earlier) != recording) break;
    found.push_back(std::move(earlier));
  }
  std::ranges::reverse(found);
  return found;
}

}  // namespace ebb::observe
