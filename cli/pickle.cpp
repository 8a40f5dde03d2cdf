#include "cli/pickle.hpp"

namespace ebb::cli {

void PickleWriter::little(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> 8 * i);
}

void PickleWriter::number(std::uint64_t value) {
  if (value < 256) {
    bytes_ += 'K';
    return little(value, 1);
  }
  if (value < std::uint64_t{1} << 31) {
    bytes_ += 'J';  // four bytes, signed
    return little(value, 4);
  }
  bytes_ += "\x8a\x09";  // nine bytes, signed: the last is 0
  little(value, 8);
  bytes_ += '\0';
}

void PickleWriter::text(std::string_view value) {
  if (value.size() < 256) {
    bytes_ += '\x8c';
    little(value.size(), 1);
  } else {
    bytes_ += 'X';
    little(value.size(), 4);
  }
  bytes_ += value;
}

std::uint32_t PickleWriter::remember() {
  bytes_ += '\x94';
  return remembered_++;
}

void PickleWriter::again(std::uint32_t remembered) {
  bytes_ += 'j';
  little(remembered, 4);
}

}  // namespace ebb::cli
