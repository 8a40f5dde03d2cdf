#include "cli/pickle.hpp"

namespace ebb::cli {
namespace {

// As Python's own; PyTorch's viewer has a batch on JavaScript's stack.
constexpr std::uint32_t kBatch = 1000;

}  // namespace

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
  // Signed, and no longer than it must be: PyTorch's viewer takes more than eight bytes for another
  // kind of number, which it cannot add to the others.
  const bool fits = value < std::uint64_t{1} << 63;
  bytes_ += '\x8a';
  bytes_ += fits ? '\x08' : '\x09';
  little(value, 8);
  if (!fits) bytes_ += '\0';
}

void PickleWriter::begin_list() {
  bytes_ += "](";
  items_.push_back(0);
}

void PickleWriter::item() {
  if (items_.back()++ < kBatch) return;
  bytes_ += "e(";
  items_.back() = 1;
}

void PickleWriter::end_list() {
  bytes_ += 'e';
  items_.pop_back();
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
