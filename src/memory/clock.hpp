// What time it is, where durations are taken.
#pragma once

#include <chrono>
#include <cstdint>

namespace ebb {

// Nanoseconds of the steady clock.
inline std::uint64_t steady_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace ebb
