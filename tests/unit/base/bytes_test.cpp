#include "ebb/base/bytes.hpp"

#include <gtest/gtest.h>

#include <cctype>

#include "support/expect_error.hpp"

namespace ebb {
namespace {

TEST(ParseBytes, ReadsUnitsInAnyCase) {
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_EQ(parse_bytes("64 bytes"), 64u);
  EXPECT_EQ(parse_bytes("1 byte"), 1u);
  EXPECT_EQ(parse_bytes("7b"), 7u);
  EXPECT_EQ(parse_bytes("1k"), 1024u);
  EXPECT_EQ(parse_bytes("512 MiB"), 512u << 20);
  EXPECT_EQ(parse_bytes("2GB"), std::uint64_t{2} << 30);
  EXPECT_EQ(parse_bytes(" 1.5g "), std::uint64_t{3} << 29);
  EXPECT_EQ(parse_bytes("3TIB"), std::uint64_t{3} << 40);
}

TEST(ParseBytes, CutsOffFractionsOfAByte) { EXPECT_EQ(parse_bytes("1.9"), 1u); }

TEST(ParseBytes, RejectsWhatIsNoAmount) {
  for (const char* text : {"", " ", "GB", "-1", "1e3", "1XB", "1 kilo", "0x10", "nan", "inf",
                           "9e18", "99999999TB", "1 2", "10GBB", "."}) {
    EXPECT_ERROR(parse_bytes(text), kInvalidArgument, text, "512MB");
  }
}

TEST(FormatBytes, PicksTheUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KB");
  EXPECT_EQ(format_bytes(640 << 10), "640 KB");
  EXPECT_EQ(format_bytes(std::uint64_t{3} << 29), "1.50 GB");
  EXPECT_EQ(format_bytes(std::uint64_t{5} << 40), "5.00 TB");
  EXPECT_EQ(format_bytes(std::uint64_t{1} << 53), "8192 TB");  // beyond the largest unit
}

std::size_t digits_in(const std::string& text) {
  std::size_t digits = 0;
  for (const unsigned char c : text) digits += std::isdigit(c) != 0 ? 1 : 0;
  return digits;
}

TEST(FormatBytes, NeedsThreeDigitsAtMost) {
  for (std::uint64_t bytes = 1; bytes < std::uint64_t{900} << 40; bytes += bytes / 97 + 1) {
    EXPECT_LE(digits_in(format_bytes(bytes)), 3u) << bytes << " is " << format_bytes(bytes);
  }
}

TEST(FormatBytes, RoundsUpIntoTheNextUnit) {
  EXPECT_EQ(format_bytes((std::uint64_t{1} << 20) - 1), "1.00 MB");
  EXPECT_EQ(format_bytes(10235), "10.0 KB");  // 9.995 KB
  EXPECT_EQ(format_bytes(102370), "100 KB");  // 99.97 KB
}

}  // namespace
}  // namespace ebb
