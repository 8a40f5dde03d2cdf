#include "observe/crc32c.hpp"

#include <array>

namespace ebb::observe {
namespace {

using Table = std::array<std::uint32_t, 256>;

// kTables[n][b]: what byte b does to the sum when n more bytes have gone by.
constexpr std::array<Table, 8> kTables = [] {
  std::array<Table, 8> tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82F63B78u : 0);
    tables[0][i] = value;
  }
  for (std::size_t n = 1; n < tables.size(); ++n) {
    for (std::uint32_t i = 0; i < 256; ++i) {
      const std::uint32_t before = tables[n - 1][i];
      tables[n][i] = before >> 8 ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}();

}  // namespace

std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t before) noexcept {
  std::uint32_t sum = ~before;
  // Eight at a time: the look-ups do not wait for each other.
  for (; bytes.size() >= kTables.size(); bytes = bytes.subspan(kTables.size())) {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < kTables.size(); ++i) {
      const std::uint32_t carried = i < 4 ? sum >> 8 * i & 0xFF : 0;
      next ^= kTables[kTables.size() - 1 - i][carried ^ bytes[i]];
    }
    sum = next;
  }
  for (const std::uint8_t byte : bytes) sum = sum >> 8 ^ kTables[0][(sum ^ byte) & 0xFF];
  return ~sum;
}

}  // namespace ebb::observe
