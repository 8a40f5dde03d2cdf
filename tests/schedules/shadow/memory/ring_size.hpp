// In place of memory/ring_size.hpp.
#pragma once

#include <cstddef>

namespace ebb {

inline constexpr std::size_t kRingEvents = 2;

}  // namespace ebb
