// What a recording notes ten times a second.
#pragma once

#include "observe/format.hpp"

namespace ebb::observe {

// Bytes of this process in memory; 0 where the system does not say.
std::uint64_t resident_bytes() noexcept;
std::vector<DeviceCounters> device_counters();

}  // namespace ebb::observe
