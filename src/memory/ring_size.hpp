// How many events a thread's ring keeps. Here by itself: tests/schedules has another, of so few that
// a schedule goes round.
#pragma once

#include <cstddef>

namespace ebb {

inline constexpr std::size_t kRingEvents = std::size_t{1} << 13;

}  // namespace ebb
