// Vector clocks: what each thread of a schedule knows of the others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace ebb::schedules {

inline constexpr std::size_t kMostThreads = 4;  // that take turns; one more sets up and looks after
using Clock = std::array<std::uint32_t, kMostThreads + 1>;

inline void join(Clock& clock, const Clock& other) noexcept {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

}  // namespace ebb::schedules
