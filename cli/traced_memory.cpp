#include "cli/traced_memory.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "cli/block_layout.hpp"

namespace ebb::cli {
namespace {

// What lives side by side is shown as one: a recording does not say where a pool's segments end.
constexpr std::uint64_t kGap = 2u << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;  // a file may claim anything
// Of what has no addresses, device by device; below 2^53, which is exact in a viewer's numbers.
constexpr int kBaseBits = 40;

}  // namespace

std::uint64_t TracedMemory::size_of(std::uint64_t bytes) {
  return std::clamp<std::uint64_t>(bytes, 1, kMostBytes);
}

TracedMemory::TracedMemory(std::span<const StorageEvent> events,
                           std::span<const StorageEvent> alive) {
  find_blocks(events, alive);
  address_.resize(blocks_.size());
  Indices by_birth(blocks_.size());
  std::iota(by_birth.begin(), by_birth.end(), 0u);
  std::ranges::stable_sort(by_birth, {}, [&](std::uint32_t i) { return blocks_[i].begin; });
  std::map<std::uint8_t, Indices> by_device;
  for (const std::uint32_t block : by_birth) by_device[blocks_[block].device].push_back(block);
  for (const auto& [device, blocks] : by_device) {
    place(device, blocks);
    add_segments(device, blocks);
  }
}

// Those that were born before the first event have the beginning 0.
void TracedMemory::find_blocks(std::span<const StorageEvent> events,
                               std::span<const StorageEvent> alive) {
  std::unordered_map<std::uint64_t, std::uint32_t> open;
  const auto opened = [&](const StorageEvent& event, std::uint64_t begin) {
    open[event.name] = static_cast<std::uint32_t>(blocks_.size());
    blocks_.push_back({.name = event.name,
                       .bytes = event.bytes,
                       .begin = begin,
                       .end = ~std::uint64_t{0},
                       .site = event.site,
                       .device = event.device});
    return open[event.name];
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    const StorageEvent& event = events[i];
    const auto found = open.find(event.name);
    const bool known = found != open.end() && !event.lives;
    block_of_.push_back(known ? found->second : opened(event, event.lives ? i + 1 : 0));
    if (event.lives) continue;
    blocks_[block_of_.back()].end = i + 1;
    open.erase(event.name);
  }
  for (const StorageEvent& event : alive) {
    const auto found = open.find(event.name);
    blocks_[found == open.end() ? opened(event, 0) : found->second].alive = true;
  }
}

void TracedMemory::place(std::uint8_t device, const Indices& blocks) {
  std::vector<Block> all;
  for (const std::uint32_t block : blocks) all.push_back(blocks_[block]);
  if (!are_addresses(all)) return place_by_size((device + std::uint64_t{1}) << kBaseBits, blocks);
  for (const std::uint32_t block : blocks) address_[block] = blocks_[block].name;
}

void TracedMemory::place_by_size(std::uint64_t base, const Indices& blocks) {
  std::map<std::uint64_t, std::vector<std::uint64_t>> free;  // addresses by size
  std::multimap<std::uint64_t, std::uint32_t> ends;
  for (const std::uint32_t block : blocks) {
    while (!ends.empty() && ends.begin()->first <= blocks_[block].begin) {
      const std::uint32_t gone = ends.begin()->second;
      free[size_of(blocks_[gone].bytes)].push_back(address_[gone]);
      ends.erase(ends.begin());
    }
    const std::uint64_t bytes = size_of(blocks_[block].bytes);
    std::vector<std::uint64_t>& fitting = free[bytes];
    if (fitting.empty()) {
      fitting.push_back(base);
      base += bytes;
    }
    address_[block] = fitting.back();
    fitting.pop_back();
    if (!blocks_[block].alive) ends.emplace(blocks_[block].end, block);
  }
}

void TracedMemory::add_segments(std::uint8_t device, Indices blocks) {
  std::ranges::sort(blocks, {}, [&](std::uint32_t i) { return address_[i]; });
  for (const std::uint32_t i : blocks) {
    Block block = blocks_[i];
    block.name = address_[i];
    const std::uint64_t end =
        block.name + std::min(size_of(block.bytes), ~std::uint64_t{0} - block.name);
    const bool apart =
        segments_.empty() || segments_.back().device != device ||
        (block.name > segments_.back().end && block.name - segments_.back().end > kGap);
    if (apart) segments_.push_back({.device = device, .begin = block.name, .end = end});
    TracedSegment& segment = segments_.back();
    segment.end = std::max(segment.end, end);
    if (!block.alive) continue;
    const bool overlaps =
        !segment.alive.empty() &&
        segment.alive.back().name + size_of(segment.alive.back().bytes) > block.name;
    if (!overlaps) segment.alive.push_back(block);
  }
}

}  // namespace ebb::cli
