// The items of a loop, cut into parts whose lengths differ by one item at most.
#pragma once

#include <cstdint>

namespace ebb::cpu {

struct Items {
  std::int64_t begin, end;
};

// Those of one part of so many. All parts together are [0, count).
constexpr Items items_of(std::int64_t count, std::int64_t part, std::int64_t parts) noexcept {
  return {count * part / parts, count * (part + 1) / parts};
}

}  // namespace ebb::cpu
