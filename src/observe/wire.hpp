// Numbers and text as a recording has them: unsigned numbers seven bits a byte, lowest first;
// signed ones folded so that small ones stay short; text as its length and its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::observe {

class WireWriter {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(value); }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void difference(std::uint64_t to, std::uint64_t from) {
    const std::uint64_t by = to - from;  // modulo 2^64, as the reader adds it
    number(by << 1 ^ (0 - (by >> 63)));
  }
  void text(std::string_view value);

  const std::vector<std::uint8_t>& bytes() const noexcept { return bytes_; }
  void clear() noexcept { bytes_.clear(); }

 private:
  std::vector<std::uint8_t> bytes_;
};

// Throws Error(kInvalidArgument) where the bytes end too early or a number has more than 64 bits.
class WireReader {
 public:
  WireReader(const std::uint8_t* begin, const std::uint8_t* end) : next_(begin), end_(end) {}
  explicit WireReader(const std::vector<std::uint8_t>& bytes)
      : WireReader(bytes.data(), bytes.data() + bytes.size()) {}

  bool at_end() const noexcept { return next_ == end_; }
  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - next_); }
  std::uint8_t byte() {
    if (at_end()) refuse("a block ends within a value");
    return *next_++;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      if (shift == 63 && next > 1) break;
      value |= std::uint64_t{next & 0x7Fu} << shift;
      if (next < 0x80) return value;
    }
    refuse("a number has more than 64 bits");
  }
  // At most `most`.
  std::uint64_t number(std::uint64_t most) {
    const std::uint64_t value = number();
    if (value > most) refuse("a number is larger than it can be");
    return value;
  }
  std::uint64_t difference(std::uint64_t from) {
    const std::uint64_t folded = number();
    return from + (folded >> 1 ^ (0 - (folded & 1)));
  }
  std::string_view text() {
    const std::uint64_t size = number();
    if (size > left()) refuse("a block ends within a text");
    const auto* begin = reinterpret_cast<const char*>(next_);
    next_ += size;
    return {begin, static_cast<std::size_t>(size)};
  }
  [[noreturn]] static void refuse(std::string_view why);

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

}  // namespace ebb::observe
