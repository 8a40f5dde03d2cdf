// Amounts of memory as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ebb {

// "2GB", "512 MiB", "1.5g", "4096", "64 bytes" -> bytes. GB and GiB both count in 1024s. Throws an
// Error that says what is allowed.
std::uint64_t parse_bytes(std::string_view text);

// "1.5 GB", "640 KB", "12 B": three digits at most, in 1024s.
std::string format_bytes(std::uint64_t bytes);

}  // namespace ebb
