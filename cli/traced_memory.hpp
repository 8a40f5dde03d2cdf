// Where the storages of a trace stand: at their addresses, or, where what names them is no address
// (another runtime's memory), where a pool of exact sizes would put them; and the segments that have
// room for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cli/history.hpp"

namespace ebb::cli {

struct StorageEvent {
  std::uint64_t time = 0, name = 0, bytes = 0;
  std::uint32_t site = 0;
  std::uint8_t device = 0;
  bool lives = false;
};

struct TracedSegment {
  std::uint8_t device = 0;
  std::uint64_t begin = 0, end = 0;
  std::vector<Block> alive{};  // by address, which is their name
};

class TracedMemory {
 public:
  // `events` in their order; `alive` after the last of them, in any.
  TracedMemory(std::span<const StorageEvent> events, std::span<const StorageEvent> alive);

  // Of the storage of an event. Pre: one of those given.
  std::uint64_t address_of(std::size_t event) const { return address_[block_of_[event]]; }
  // By device and address.
  const std::vector<TracedSegment>& segments() const noexcept { return segments_; }

  // At least one byte, so that no two share a place.
  static std::uint64_t size_of(std::uint64_t bytes);

 private:
  using Indices = std::vector<std::uint32_t>;

  void find_blocks(std::span<const StorageEvent> events, std::span<const StorageEvent> alive);
  void place(std::uint8_t device, const Indices& blocks);
  void place_by_size(std::uint64_t base, const Indices& blocks);
  void add_segments(std::uint8_t device, Indices blocks);

  std::vector<Block> blocks_;  // begin and end: numbers of events
  std::vector<std::uint64_t> address_;
  Indices block_of_;  // by event
  std::vector<TracedSegment> segments_;
};

}  // namespace ebb::cli
