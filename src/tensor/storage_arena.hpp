// Storage records of one context: from chunks, kept on a free list, so that ending a storage
// allocates nothing and making one rarely does. Under the context's lock.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "ebb/tensor/storage.hpp"

namespace ebb {

class StorageArena {
 public:
  // Throws std::bad_alloc; then nothing has changed. The record's fields are the last owner's.
  Storage& acquire() {
    if (free_ == nullptr) grow();
    Storage& storage = *free_;
    free_ = storage.next_free;
    ++count_;
    return storage;
  }
  void release(Storage& storage) noexcept {
    storage.next_free = free_;
    free_ = &storage;
    --count_;
  }
  std::size_t count() const noexcept { return count_; }

 private:
  static constexpr std::size_t kChunk = 256;

  void grow() {
    chunks_.push_back(std::make_unique<std::array<Storage, kChunk>>());
    for (Storage& storage : *chunks_.back()) {
      storage.next_free = free_;
      free_ = &storage;
    }
  }

  std::vector<std::unique_ptr<std::array<Storage, kChunk>>> chunks_;
  Storage* free_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace ebb
