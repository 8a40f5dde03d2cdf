// From what a host calls its data to the storage that books it: open addressing, linear probing,
// erased by shifting back, so that nothing of what has gone stays behind. It grows and shrinks on
// insertion only: erasing allocates nothing. Under the context's lock.
//
// arithmetic of this file: of at most 2^24 keys
#pragma once

#include <cstdint>
#include <vector>

#include "ebb/tensor/storage.hpp"

namespace ebb {

class KeyMap {
 public:
  Storage* find(DeviceId device, std::uint64_t key) const noexcept {
    if (count_ == 0) return nullptr;
    for (std::size_t i = home(device, key);; i = next(i)) {
      Storage* storage = slots_[i];
      if (storage == nullptr || matches(*storage, device, key)) return storage;
    }
  }

  // Room for one more; throws std::bad_alloc. `insert` after it cannot fail.
  void reserve_one() {
    const std::size_t size = slots_.size();
    if ((count_ + 1) * 4 > size * 3) {
      rehash(size == 0 ? kSmallest : size * 2);
    } else if (size > kSmallest && (count_ + 1) * 8 < size) {
      rehash(size / 2);
    }
  }
  void insert(Storage& storage) noexcept {
    std::size_t i = home(storage.device->id(), storage.key);
    while (slots_[i] != nullptr) i = next(i);
    slots_[i] = &storage;
    ++count_;
  }
  // Pre: it was inserted, and its key and device are what they were then.
  void erase(Storage& storage) noexcept {
    std::size_t hole = home(storage.device->id(), storage.key);
    while (slots_[hole] != &storage) hole = next(hole);
    for (std::size_t i = next(hole); slots_[i] != nullptr; i = next(i)) {
      const std::size_t wants = home(slots_[i]->device->id(), slots_[i]->key);
      if (((i - wants) & mask()) >= ((i - hole) & mask())) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole] = nullptr;
    --count_;
  }
  std::size_t count() const noexcept { return count_; }

 private:
  static constexpr std::size_t kSmallest = 16;

  static bool matches(const Storage& storage, DeviceId device, std::uint64_t key) noexcept {
    return storage.key == key && storage.device->id() == device;
  }
  std::size_t mask() const noexcept { return slots_.size() - 1; }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & mask(); }
  std::size_t home(DeviceId device, std::uint64_t key) const noexcept {
    std::uint64_t mixed = (key ^ (std::uint64_t{device} << 56)) * 0x9E3779B97F4A7C15ull;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32)) & mask();
  }
  void rehash(std::size_t size) {
    std::vector<Storage*> old(size, nullptr);
    old.swap(slots_);
    count_ = 0;
    for (Storage* storage : old) {
      if (storage != nullptr) insert(*storage);
    }
  }

  std::vector<Storage*> slots_;
  std::size_t count_ = 0;
};

}  // namespace ebb
