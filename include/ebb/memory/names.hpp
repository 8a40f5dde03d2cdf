// What things are called: 64 bits below 2^53, so that a JavaScript number holds them exactly. None
// ever comes twice; 0 is none.
#pragma once

#include <cstdint>

namespace ebb {

using Handle = std::uint64_t;    // a tensor, or a hold
using RegionId = std::uint64_t;  // a region
using SiteId = std::uint32_t;    // an interned text; 0 is unknown

}  // namespace ebb
