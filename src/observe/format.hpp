// The frame of a recording: docs/recording.md, as constants.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ebb/base/shape.hpp"
#include "ebb/memory/ledger.hpp"
#include "ebb/memory/trace.hpp"

namespace ebb::observe {

inline constexpr std::array<std::uint8_t, 8> kMagic{0x89, 'E', 'B', 'B', 'R', 'E', 'C', '\n'};
inline constexpr std::uint16_t kMajor = 1;  // a reader refuses a larger one
inline constexpr std::uint16_t kMinor = 1;  // grows with what older readers may skip
inline constexpr std::size_t kFileHeader = 16;
inline constexpr std::size_t kBlockHeader = 16;
inline constexpr std::uint32_t kMostBlockBytes = 64u << 20;

enum class BlockType : std::uint8_t {
  kMeta = 1,
  kDevices = 2,
  kSites = 3,
  kEvents = 4,
  kCheckpoint = 5,
  kCounters = 6,
  kMark = 7,
  kLost = 8,
  kEnd = 9,
  kHolder = 10,  // since 1.1
};

// Marks that hosts set: where they hold the program up to look at its heap, where that is over, and
// where it has come to its end and they look at what is left. Growth is told from its own time.
inline constexpr std::string_view kStandsStill = "the program stands still";
inline constexpr std::string_view kGoesOn = "the program goes on";
inline constexpr std::string_view kProgramEnds = "the program ends";

// How much is written down.
enum class Mode : std::uint8_t {
  kOff = 0,
  kCounters = 1,  // what devices hold, ten times a second
  kSampled = 2,   // and each birth and end; some of them with the place that made them
  kFull = 3,      // all of them with it
};

// Why a checkpoint was taken.
enum class Because : std::uint8_t { kBegin = 0, kLost = 1, kRotated = 2, kStopped = 3, kMode = 4 };

// A live tensor as a checkpoint has it: its birth as if it were now, and its shape.
struct LiveTensor {
  TraceEvent birth;
  std::uint8_t rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
};

struct DeviceBooks {
  std::uint8_t device = 0;
  Books books;
};

struct Checkpoint {
  Because because = Because::kBegin;
  std::uint64_t time = 0;
  std::vector<DeviceBooks> books;
  std::vector<LiveTensor> tensors;
};

// Not known: what was not asked, or a host that does not say.
inline constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

struct DeviceCounters {
  std::uint8_t device = 0;
  std::uint64_t in_use = 0, committed = 0, budget = 0;
  friend bool operator==(const DeviceCounters&, const DeviceCounters&) = default;
};

struct Counters {
  std::uint64_t time = 0;
  std::uint64_t resident = 0;          // of the process
  std::uint64_t host_heap = kUnknown;  // as the host last said
  std::uint64_t orphans = 0;
  std::vector<DeviceCounters> devices;
};

struct DeviceEntry {
  std::uint8_t device = 0;  // index
  std::uint8_t kind = 0;    // DeviceKind
  std::string name;
};

}  // namespace ebb::observe
