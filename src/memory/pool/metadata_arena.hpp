// MetadataArena: where the pool's own records come from. It only grows, and all of it goes back
// with the pool; whoever takes records keeps those it no longer needs for later.
#pragma once

#include <cstddef>
#include <new>

#include "ebb/memory/heap.hpp"

namespace ebb::detail {

class MetadataArena {
 public:
  explicit MetadataArena(Heap& heap) : heap_(heap) {}
  ~MetadataArena();
  MetadataArena(const MetadataArena&) = delete;
  MetadataArena& operator=(const MetadataArena&) = delete;

  // A new T, or null where the heap has no room. It is never destroyed.
  template <typename T>
  T* make() noexcept {
    void* memory = take(sizeof(T), alignof(T));
    return memory != nullptr ? ::new (memory) T{} : nullptr;
  }

  std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Segment {
    Segment* next;
    std::size_t bytes;
  };

  void* take(std::size_t bytes, std::size_t alignment) noexcept;
  bool add_segment(std::size_t at_least) noexcept;

  Heap& heap_;
  Segment* segments_ = nullptr;
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace ebb::detail
