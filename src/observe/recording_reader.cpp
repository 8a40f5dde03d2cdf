#include "observe/recording_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/file_calls.hpp"
#include "ebb/base/error.hpp"
#include "observe/crc32c.hpp"

namespace ebb::observe {
namespace {

std::uint32_t little(const std::uint8_t* from, int bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= std::uint32_t{from[i]} << 8 * i;
  return value;
}

class SegmentReader {
 public:
  SegmentReader(const TakeBytes& take, RecordingVisitor& visitor)
      : take_(take), visitor_(visitor) {}

  ReadResult read() {
    read_header();
    while (read_block()) {
    }
    result_.segments = 1;
    return result_;
  }

 private:
  bool fill(std::uint8_t* to, std::size_t count) {
    while (count != 0) {
      const std::size_t got = take_(to, count);
      if (got == 0) return false;
      to += got;
      count -= got;
    }
    return true;
  }

  void read_header() {
    std::array<std::uint8_t, kFileHeader> header{};
    if (!fill(header.data(), header.size()) ||
        !std::equal(kMagic.begin(), kMagic.end(), header.begin())) {
      raise(ErrorKind::kInvalidArgument, "[recording] this is not a recording of Ebb's");
    }
    const std::uint32_t major = little(&header[8], 2);
    if (major > kMajor) {
      raise(ErrorKind::kUnsupported,
            "[recording] it is of version {}.{}, this tool reads up to {}.x: a newer Ebb is needed",
            major, little(&header[10], 2), kMajor);
    }
    result_.bytes = kFileHeader;
  }

  // False at the end, or where a block is cut short or damaged: what comes after cannot be trusted.
  bool read_block() {
    std::array<std::uint8_t, kBlockHeader> header{};
    if (!fill(header.data(), header.size())) return false;
    const std::uint32_t raw = little(&header[4], 4), size = little(&header[8], 4);
    if (size > kMostBlockBytes) return false;
    if (!fill_body(size)) return false;
    if (crc32c(body_, crc32c({header.data(), 12})) != little(&header[12], 4)) return false;
    result_.bytes += kBlockHeader + size;
    if (header[1] != 0 || raw != size) {
      raise(ErrorKind::kUnsupported,
            "[recording] a block is packed in a way (number {}) that this "
            "tool does not know",
            header[1]);
    }
    WireReader in(body_);
    tell(BlockType(header[0]), in);
    return !result_.ended;
  }

  // A little at a time: a size is only a claim.
  bool fill_body(std::uint32_t size) {
    constexpr std::size_t kStep = 1u << 20;
    body_.clear();
    while (body_.size() < size) {
      const std::size_t before = body_.size();
      body_.resize(std::min<std::size_t>(size, before + kStep));
      if (!fill(&body_[before], body_.size() - before)) return false;
    }
    return true;
  }

  void tell(BlockType type, WireReader& in) {
    switch (type) {
      case BlockType::kMeta:
        return visitor_.on_meta(get_meta(in));
      case BlockType::kDevices:
        while (!in.at_end()) visitor_.on_device(get_device(in));
        return;
      case BlockType::kSites:
        return tell_sites(in);
      case BlockType::kEvents:
        if (!visitor_.wants_events()) return;
        decoder_.begin_block(in);
        while (!in.at_end()) visitor_.on_event(decoder_.decode(in));
        return;
      case BlockType::kCheckpoint:
        return tell_checkpoint(in);
      case BlockType::kCounters:
        return visitor_.on_counters(get_counters(in));
      case BlockType::kMark: {
        const std::uint64_t time = in.number();
        return visitor_.on_mark(time, in.text());
      }
      case BlockType::kLost: {
        const std::uint64_t time = in.number();
        return visitor_.on_lost(time, in.number());
      }
      case BlockType::kHolder: {
        const std::uint64_t time = in.number();
        const auto site = static_cast<std::uint32_t>(in.number(0xFFFFFFFF));
        return visitor_.on_holder(time, site, in.text());
      }
      case BlockType::kEnd:
        result_.ended = true;
        return;
    }
    ++result_.skipped;
  }

  void tell_sites(WireReader& in) {
    while (!in.at_end()) {
      const auto site = static_cast<std::uint32_t>(in.number(0xFFFFFFFF));
      visitor_.on_site(site, in.text());
    }
  }

  void tell_checkpoint(WireReader& in) {
    const std::uint8_t because = in.byte();
    const std::uint64_t time = in.number();
    const bool more = in.byte() != 0;
    if (!checkpoint_) checkpoint_.emplace(Checkpoint{Because(because), time, {}, {}});
    for (std::uint64_t left = in.number(in.left()); left > 0; --left) {
      checkpoint_->books.push_back(get_books(in));
    }
    for (std::uint64_t left = in.number(in.left()); left > 0; --left) {
      checkpoint_->tensors.push_back(get_tensor(in));
      decoder_.learn(checkpoint_->tensors.back().birth);
    }
    if (more) return;
    visitor_.on_checkpoint(*checkpoint_);
    checkpoint_.reset();
  }

  const TakeBytes& take_;
  RecordingVisitor& visitor_;
  ReadResult result_;
  std::vector<std::uint8_t> body_;
  EventDecoder decoder_;
  std::optional<Checkpoint> checkpoint_;
};

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

  std::size_t take(std::uint8_t* to, std::size_t count) {
    const ssize_t got =
        uninterrupted([&] { return FileCalls::current().pread(file_, to, count, at_); });
    if (got < 0) fail();
    at_ += got;
    return static_cast<std::size_t>(got);
  }

 private:
  [[noreturn]] void fail() const {
    raise(ErrorKind::kDevice, "[recording] cannot read {}: {}", path_,
          std::generic_category().message(errno));
  }
  const std::string path_;
  int file_ = -1;
  off_t at_ = 0;
};

ReadResult read_file(const std::string& path, RecordingVisitor& visitor) {
  InputFile file(path);
  return read_segment([&](std::uint8_t* to, std::size_t count) { return file.take(to, count); },
                      visitor);
}

// What a file says of itself before anything else, and no more of it.
struct MetaFound {
  Meta meta;
};
Meta meta_of(const std::string& path) {
  class First : public RecordingVisitor {
    void on_meta(const Meta& meta) override { throw MetaFound{meta}; }
  };
  First first;
  try {
    read_file(path, first);
  } catch (const MetaFound& found) {
    return found.meta;
  }
  return {};
}

std::string fact(const Meta& meta, std::string_view name) {
  const auto found = meta.find(name);
  return found == meta.end() ? std::string() : found->second;
}

}  // namespace

ReadResult read_segment_file(const std::string& path, RecordingVisitor& visitor) {
  return read_file(path, visitor);
}

std::vector<std::string> earlier_segments(const std::string& path, const std::string& recording,
                                          std::uint64_t segment, std::uint64_t oldest) {
  std::vector<std::string> found;
  for (std::uint64_t back = 1; back <= std::min<std::uint64_t>(segment, 64); ++back) {
    if (segment - back < oldest) break;
    const std::string earlier = fmt::format("{}.{}", path, segment - back);
    if (!std::filesystem::exists(earlier)) break;
    if (recording.empty() || fact(meta_of(earlier), "recording") != recording) break;
    found.push_back(earlier);
  }
  std::ranges::reverse(found);
  return found;
}

ReadResult read_segment(const TakeBytes& take, RecordingVisitor& visitor) {
  return SegmentReader(take, visitor).read();
}

ReadResult read_segment(std::span<const std::uint8_t> bytes, RecordingVisitor& visitor) {
  return read_segment(
      [&](std::uint8_t* to, std::size_t count) {
        const std::size_t got = std::min(count, bytes.size());
        std::memcpy(to, bytes.data(), got);
        bytes = bytes.subspan(got);
        return got;
      },
      visitor);
}

ReadResult read_recording(const std::string& path, RecordingVisitor& visitor) {
  ReadResult sum;
  const Meta meta = meta_of(path);
  const std::uint64_t segment = std::strtoull(fact(meta, "segment").c_str(), nullptr, 10);
  for (const std::string& earlier : earlier_segments(path, fact(meta, "recording"), segment, 0)) {
    const ReadResult each = read_file(earlier, visitor);
    sum.bytes += each.bytes;
    sum.skipped += each.skipped;
    ++sum.segments;
  }
  ReadResult last = read_file(path, visitor);
  last.bytes += sum.bytes;
  last.skipped += sum.skipped;
  last.segments += sum.segments;
  return last;
}

}  // namespace ebb::observe
