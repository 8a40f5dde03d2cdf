// What a context tells of its regions, its books and what was given back.
#pragma once

#include <cstdint>

#include "ebb/memory/governor.hpp"
#include "ebb/memory/ledger.hpp"
#include "ebb/memory/names.hpp"

namespace ebb {

struct RegionInfo {
  RegionId parent = 0;
  std::uint32_t depth = 0;
  std::uint64_t tensors = 0;
  std::uint64_t children = 0;
  bool capped = false;
};

struct Drained {
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;
  std::uint32_t collections = 0;
  Drained& operator+=(const Drained& other) noexcept;
};

struct MemoryReading {
  Books books;
  std::uint64_t orphans = 0;  // live and noticed, on all devices
  std::uint64_t peak_orphans = 0;
  std::uint64_t regions = 0;
  // What the records of tensors, their data and regions need of the system's memory, on all devices;
  // of all contexts together: idle ones that are kept, too.
  std::uint64_t record_bytes = 0;
  CollectionCosts collections;
  std::uint64_t lag_last_ns = 0;
  std::uint64_t lag_max_ns = 0;
};

// By what the live tensors are told apart: the place that made them, or the label of their region.
enum class By : std::uint8_t { kSite, kRegionLabel };

// Live bytes and tensors of one creation site, or of the regions with one label.
struct SiteHolding {
  SiteId site = 0;  // the interned site or label
  Tally live;
  std::uint64_t orphans = 0;
};

}  // namespace ebb
