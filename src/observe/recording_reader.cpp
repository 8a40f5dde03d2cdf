#include "observe/recording_reader.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

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
  SegmentReader(const TakeBytes& take, RecordingVisitor& visitor, const ReadingPlace& place)
      : take_(take), visitor_(visitor), place_(place) {}

  ReadResult read() {
    if (place_.offset == 0) read_header();
    while (read_block()) {
    }
    result_.bytes = place_.offset;
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
    place_.offset = kFileHeader;
  }

  // False at the end, or where a block is cut short or damaged: what comes after cannot be trusted.
  bool read_block() {
    std::array<std::uint8_t, kBlockHeader> header{};
    if (!fill(header.data(), header.size())) return false;
    const std::uint32_t raw = little(&header[4], 4), size = little(&header[8], 4);
    if (size > kMostBlockBytes) return false;
    if (!fill_body(size)) return false;
    if (crc32c(body_, crc32c({header.data(), 12})) != little(&header[12], 4)) return false;
    if (header[1] != 0 || raw != size) {
      raise(ErrorKind::kUnsupported,
            "[recording] a block is packed in a way (number {}) that this "
            "tool does not know",
            header[1]);
    }
    WireReader in(body_);
    tell(BlockType(header[0]), in);
    place_.offset += kBlockHeader + size;
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
        visitor_.on_place(place_);
        place_.decoder.begin_block(in);
        while (!in.at_end()) visitor_.on_event(place_.decoder.decode(in));
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
      place_.decoder.learn(checkpoint_->tensors.back().birth);
    }
    if (more) return;
    visitor_.on_checkpoint(*checkpoint_);
    checkpoint_.reset();
  }

  const TakeBytes& take_;
  RecordingVisitor& visitor_;
  ReadingPlace place_;
  ReadResult result_;
  std::vector<std::uint8_t> body_;
  std::optional<Checkpoint> checkpoint_;
};

}  // namespace

ReadResult read_segment(const TakeBytes& take, RecordingVisitor& visitor, std::size_t file) {
  ReadingPlace front;
  front.file = file;
  return SegmentReader(take, visitor, front).read();
}

ReadResult read_segment_from(const ReadingPlace& place, const TakeBytes& take,
                             RecordingVisitor& visitor) {
  return SegmentReader(take, visitor, place).read();
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

}  // namespace ebb::observe
