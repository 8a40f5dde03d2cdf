// In place of memory/chunk_slots.hpp.
#pragma once

#include <cstddef>

namespace ebb {

inline constexpr std::size_t kChunkSlots = 32;

}  // namespace ebb
