// CRC-32C (Castagnoli), as iSCSI and ext4 have it: crc32c("123456789") is 0xE3069283.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ebb::observe {

// `before`: the sum of what comes before these bytes.
std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t before = 0) noexcept;

}  // namespace ebb::observe
