#include "memory/pool/metadata_arena.hpp"

#include <algorithm>

#include "memory/pool/size_classes.hpp"

namespace ebb::detail {

MetadataArena::~MetadataArena() {
  while (segments_ != nullptr) {
    Segment* segment = segments_;
    const std::size_t bytes = segment->bytes;
    segments_ = segment->next;
    heap_.decommit(reinterpret_cast<std::byte*>(segment), bytes);
    heap_.unreserve(reinterpret_cast<std::byte*>(segment), bytes);
  }
}

void* MetadataArena::take(std::size_t bytes, std::size_t alignment) noexcept {
  const auto aligned = [&] {
    return at_ + (-reinterpret_cast<std::uintptr_t>(at_) & (alignment - 1));
  };
  if (at_ == nullptr || aligned() + bytes > end_) {
    if (!add_segment(bytes + alignment + sizeof(Segment))) return nullptr;
  }
  std::byte* memory = aligned();
  at_ = memory + bytes;
  return memory;
}

bool MetadataArena::add_segment(std::size_t at_least) noexcept {
  const std::size_t granule = heap_.traits().granule;
  const std::size_t bytes = round_up(std::max(4 * granule, at_least), granule);
  std::byte* base = heap_.reserve(bytes);
  if (base == nullptr) return false;
  if (!heap_.commit(base, bytes)) {
    heap_.unreserve(base, bytes);
    return false;
  }
  segments_ = ::new (base) Segment{segments_, bytes};
  at_ = base + sizeof(Segment);
  end_ = base + bytes;
  bytes_ += bytes;
  return true;
}

}  // namespace ebb::detail
