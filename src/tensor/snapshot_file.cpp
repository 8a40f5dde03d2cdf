#include "tensor/snapshot_file.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace ebb {
namespace {

constexpr std::size_t kLarge = std::size_t{64} << 10;

}  // namespace

SnapshotFile::SnapshotFile(std::string path) : draft_(std::move(path), "snapshot") {}

void SnapshotFile::flush_if_large() {
  if (text_.size() >= kLarge) flush();
}

void SnapshotFile::flush() {
  draft_.write(std::as_bytes(std::span(text_)));
  text_.clear();
}

void SnapshotFile::publish() {
  flush();
  draft_.publish();
}

}  // namespace ebb
