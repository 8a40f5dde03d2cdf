// How many slots a chunk has. Here by itself: tests/schedules has another, of so few that a schedule
// sees all their marks.
#pragma once

#include <cstddef>

namespace ebb {

inline constexpr std::size_t kChunkSlots = 1024;

}  // namespace ebb
