#include "observe/crc32c.hpp"

#include <array>

namespace ebb::observe {
namespace {

constexpr std::array<std::uint32_t, 256> kTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82F63B78u : 0);
    table[i] = value;
  }
  return table;
}();

}  // namespace

std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t before) noexcept {
  std::uint32_t sum = ~before;
  for (const std::uint8_t byte : bytes) sum = sum >> 8 ^ kTable[(sum ^ byte) & 0xFF];
  return ~sum;
}

}  // namespace ebb::observe
