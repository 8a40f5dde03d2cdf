#include "cli/block_layout.hpp"

#include <algorithm>
#include <map>
#include <queue>

namespace ebb::cli {
namespace {

// What is farther apart is another region.
constexpr std::uint64_t kGap = 1u << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48;  // a file may claim anything

std::uint64_t size_of(const Block& block) {
  return std::clamp<std::uint64_t>(block.bytes, 1, kMostBytes);
}

std::uint64_t end_of(const Block& block) {
  return block.name + std::min(size_of(block), ~std::uint64_t{0} - block.name);
}

// Tells who is gone by the time the next is born.
class Leaving {
 public:
  void add(std::uint64_t end, std::uint64_t at) { queue_.emplace(end, at); }
  template <typename Gone>
  void until(std::uint64_t time, Gone gone) {
    for (; !queue_.empty() && queue_.top().first <= time; queue_.pop()) gone(queue_.top().second);
  }

 private:
  using Entry = std::pair<std::uint64_t, std::uint64_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

void place_by_address(BlockLayout& layout) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> used;
  for (const PlacedBlock& each : layout.blocks) {
    used.emplace_back(each.block.name, end_of(each.block));
  }
  std::ranges::sort(used);
  std::map<std::uint64_t, std::uint64_t> base;  // first address of a region, its offset
  std::uint64_t first = 0, last = 0;
  for (const auto& [begin, end] : used) {
    if (base.empty() || begin > last + std::min(kGap, ~std::uint64_t{0} - last)) {
      layout.extent += last - first;
      base[begin] = layout.extent;
      layout.regions.push_back(layout.extent);
      first = begin;
      last = end;
    }
    last = std::max(last, end);
  }
  layout.extent += last - first;
  for (PlacedBlock& each : layout.blocks) {
    const auto region = std::prev(base.upper_bound(each.block.name));
    each.offset = region->second + (each.block.name - region->first);
  }
}

// The lowest gap in which each fits, as they come; the ends of those before them make gaps.
void place_where_there_is_room(BlockLayout& layout) {
  std::map<std::uint64_t, std::uint64_t> gaps;  // offset, bytes
  std::map<std::uint64_t, std::uint64_t> taken;
  Leaving leaving;
  const auto give_back = [&](std::uint64_t offset) {
    std::uint64_t bytes = taken[offset];
    taken.erase(offset);
    auto next = gaps.lower_bound(offset);
    if (next != gaps.end() && offset + bytes == next->first) {
      bytes += next->second;
      next = gaps.erase(next);
    }
    if (next != gaps.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        before->second += bytes;
        return;
      }
    }
    gaps[offset] = bytes;
  };
  for (PlacedBlock& each : layout.blocks) {
    leaving.until(each.block.begin, give_back);
    const std::uint64_t bytes = size_of(each.block);
    auto gap = std::ranges::find_if(gaps, [&](const auto& g) { return g.second >= bytes; });
    each.offset = gap == gaps.end() ? layout.extent : gap->first;
    if (gap == gaps.end()) {
      layout.extent += bytes;
    } else {
      const std::uint64_t left = gap->second - bytes;
      gaps.erase(gap);
      if (left != 0) gaps[each.offset + bytes] = left;
    }
    taken[each.offset] = bytes;
    leaving.add(each.block.end, each.offset);
  }
}

}  // namespace

// A few overlap where the clock is coarser than the life of a block.
bool are_addresses(const std::vector<Block>& blocks) {
  std::map<std::uint64_t, std::uint64_t> alive;  // begin, end
  Leaving leaving;
  std::size_t overlaps = 0;
  for (const Block& block : blocks) {
    leaving.until(block.begin, [&](std::uint64_t name) { alive.erase(name); });
    const auto after = alive.lower_bound(block.name);
    const bool above = after != alive.end() && after->first < end_of(block);
    const bool below = after != alive.begin() && std::prev(after)->second > block.name;
    overlaps += above || below ? 1 : 0;
    alive[block.name] = end_of(block);
    leaving.add(block.end, block.name);
  }
  return overlaps * 20 <= blocks.size();
}

std::vector<BlockLayout> laid_out(const std::vector<Block>& blocks) {
  std::map<std::uint8_t, std::vector<Block>> by_device;
  for (const Block& block : blocks) by_device[block.device].push_back(block);
  std::vector<BlockLayout> layouts;
  for (const auto& [device, all] : by_device) {
    BlockLayout& layout = layouts.emplace_back();
    layout.device = device;
    for (const Block& block : all) layout.blocks.push_back({.block = block});
    layout.by_address = are_addresses(all);
    if (layout.by_address) {
      place_by_address(layout);
    } else {
      place_where_there_is_room(layout);
    }
  }
  return layouts;
}

}  // namespace ebb::cli
