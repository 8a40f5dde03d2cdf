// What fuzzers read their bytes with, and what they do where something is wrong.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ebb.h"

namespace ebb::fuzz {

[[noreturn]] inline void give_up(const char* what) {
  const char* input = std::getenv("EBB_SOAK_INPUT");  // which of tests/soak/calls.cpp's it is
  std::fprintf(stderr, "fuzz: %s: %s%s%s\n", what, ebb_last_error(),
               input == nullptr ? "" : "; input ", input == nullptr ? "" : input);
  std::abort();
}

inline void must(ebb_status status, const char* what) {
  if (status != EBB_OK) give_up(what);
}

class Input {
 public:
  Input(const uint8_t* data, std::size_t size) : data_(data), end_(data + size) {}
  bool empty() const { return data_ == end_; }
  uint8_t byte() { return empty() ? 0 : *data_++; }
  uint64_t word() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value |= uint64_t{byte()} << (8 * i);
    return value;
  }
  std::string text() {
    std::string made;
    for (std::size_t left = byte() % 16; left > 0; --left) made += static_cast<char>(byte());
    return made;
  }
  // A size as programs ask for it, and now and then one that none has.
  uint64_t size() {
    const uint8_t kind = byte();
    if (kind < 0xE0) return uint64_t{kind} << (byte() % 10);
    if (kind < 0xE8) return uint64_t{1} << (byte() % 64);
    return kind < 0xF4 ? edge() : word();
  }
  // At or beside a power of two where some number ends: the signed and unsigned ones of 32 and 64
  // bits, and the integers that a double tells apart.
  uint64_t edge() {
    static constexpr unsigned kPowers[] = {31, 32, 52, 53, 62, 63};
    const unsigned power = kPowers[byte() % 6];
    return (uint64_t{1} << power) + byte() % 5 - 2;
  }

 private:
  const uint8_t* data_;
  const uint8_t* end_;
};

// Names of one kind that the calls gave out, ended ones among them.
class Names {
 public:
  void keep(uint64_t name) {
    if (names_.size() < kMost) {
      names_.push_back(name);
    } else {
      names_[next_++ % kMost] = name;
    }
  }
  uint64_t pick(Input& in) const {
    const uint8_t kind = in.byte();
    if (kind >= 0xF0) return forged(kind, in);
    return names_.empty() ? 0 : names_[kind % names_.size()];
  }
  const std::vector<uint64_t>& all() const { return names_; }

 private:
  uint64_t forged(uint8_t kind, Input& in) const {
    if (kind < 0xF4) return kind & 3u;
    if (kind < 0xFA || names_.empty()) return in.word();
    return names_.back() ^ (uint64_t{1} << (in.byte() % 64));
  }

  static constexpr std::size_t kMost = 64;
  std::vector<uint64_t> names_;
  std::size_t next_ = 0;
};

}  // namespace ebb::fuzz
