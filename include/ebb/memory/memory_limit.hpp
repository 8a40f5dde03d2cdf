// What this process may use: the least of physical memory, its cgroup's limit (v1 and v2, all
// levels up) and its address-space limit.
#pragma once

#include <cstdint>

namespace ebb {

std::uint64_t memory_limit();

}  // namespace ebb
