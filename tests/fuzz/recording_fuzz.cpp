// Any bytes as a recording: they are read, or refused with an Error. Those that begin like one are
// also given correct sums, so that what is inside of the blocks is reached.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "ebb/base/error.hpp"
#include "observe/crc32c.hpp"
#include "observe/replay.hpp"

namespace {

using namespace ebb;
using namespace ebb::observe;

// Keeps the last place but some, as an index does.
class PlaceKeeper final : public Replay {
 public:
  void on_place(const ReadingPlace& place) override {
    if (++places_ % 4 != 1) return;
    kept = place;
    living = from_here();
  }
  std::optional<ReadingPlace> kept{};
  Replay living{};

 private:
  std::size_t places_ = 0;
};

void play_on(const ReadingPlace& place, Replay living, std::span<const std::uint8_t> bytes) {
  bytes = bytes.subspan(place.offset);
  read_segment_from(
      place,
      [&](std::uint8_t* to, std::size_t count) {
        const std::size_t got = std::min(count, bytes.size());
        std::copy_n(bytes.begin(), got, to);
        bytes = bytes.subspan(got);
        return got;
      },
      living);
}

void play(std::span<const std::uint8_t> bytes) {
  PlaceKeeper replay;
  try {
    read_segment(bytes, replay);
  } catch (const Error&) {
  }
  if (!replay.kept) return;
  try {
    play_on(*replay.kept, replay.living, bytes);
  } catch (const Error&) {
  }
}

std::uint32_t little(const std::uint8_t* from) {
  return from[0] | from[1] << 8 | from[2] << 16 | std::uint32_t{from[3]} << 24;
}

// Sizes that fit what is there, and sums that are right.
void mend(std::vector<std::uint8_t>& bytes) {
  for (std::size_t at = kFileHeader; at + kBlockHeader <= bytes.size();) {
    const std::size_t left = bytes.size() - at - kBlockHeader;
    const auto size =
        static_cast<std::uint32_t>(std::min<std::size_t>(little(&bytes[at + 4]) % 4096, left));
    const auto put = [&](std::size_t where, std::uint32_t value) {
      for (int i = 0; i < 4; ++i) bytes[where + i] = static_cast<std::uint8_t>(value >> 8 * i);
    };
    bytes[at + 1] = 0;
    put(at + 4, size);
    put(at + 8, size);
    const std::span all(bytes);
    put(at + 12, crc32c(all.subspan(at + kBlockHeader, size), crc32c(all.subspan(at, 12))));
    at += kBlockHeader + size;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  play({data, size});
  std::vector<std::uint8_t> bytes(data, data + size);
  if (size < kFileHeader) return 0;
  std::copy(kMagic.begin(), kMagic.end(), bytes.begin());
  bytes[8] = kMajor;
  bytes[9] = 0;
  mend(bytes);
  play(bytes);
  return 0;
}
