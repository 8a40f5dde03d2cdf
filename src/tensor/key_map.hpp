// From what a host calls its data to the storage that books it. Linear hashing: buckets are chains
// through the storages themselves, and with each insertion the map has one bucket more, with each
// erasure perhaps a few fewer. So no call takes longer because the map is large, erasing allocates
// nothing, and nothing of what has gone stays behind. Under the context's lock.
//
// arithmetic of this file: of at most 2^24 keys
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "ebb/tensor/storage.hpp"

namespace ebb {

class KeyMap {
 public:
  Storage* find(DeviceIndex device, std::uint64_t key) const noexcept {
    if (count_ == 0) return nullptr;
    Storage* storage = bucket(place(device, key));
    while (storage != nullptr && !(storage->key == key && storage->device->index() == device)) {
      storage = storage->next;
    }
    return storage;
  }

  // Room for one more; throws std::bad_alloc. `insert` after it cannot fail.
  void reserve_one() {
    if (buckets_ == segments_.size() * kSegment) segments_.push_back(std::make_unique<Segment>());
  }
  void insert(Storage& storage) noexcept {
    if (++count_ > buckets_) add_bucket();
    push(storage);
  }
  // Pre: it was inserted, and its key and device are what they were then.
  void erase(const Storage& storage) noexcept {
    Storage** at = &bucket(place(storage.device->index(), storage.key));
    while (*at != &storage) at = &(*at)->next;
    *at = storage.next;
    --count_;
    for (int i = 0; i < 4 && count_ < buckets_ / 4; ++i) drop_bucket();
  }
  std::size_t count() const noexcept { return count_; }
  std::size_t bytes() const noexcept {
    return segments_.size() * sizeof(Segment) + segments_.capacity() * sizeof(segments_[0]);
  }

 private:
  static constexpr std::size_t kSegment = 1024;
  using Segment = std::array<Storage*, kSegment>;

  Storage*& bucket(std::size_t i) const noexcept {
    return (*segments_[i / kSegment])[i % kSegment];
  }
  // The low bits, one more of them for the buckets that have been split already.
  std::size_t place(DeviceIndex device, std::uint64_t key) const noexcept {
    const std::uint64_t mixed = (key ^ (std::uint64_t{device} << 56)) * 0x9E3779B97F4A7C15ull;
    const std::size_t hash = mixed ^ (mixed >> 32);
    const std::size_t i = hash & (std::bit_ceil(buckets_) - 1);
    return i < buckets_ ? i : i - std::bit_ceil(buckets_) / 2;
  }
  void push(Storage& storage) noexcept {
    Storage*& first = bucket(place(storage.device->index(), storage.key));
    storage.next = first;
    first = &storage;
  }
  // What the new bucket gets was all in the one that has the same bits but its highest.
  void add_bucket() noexcept {
    const std::size_t added = buckets_++;
    bucket(added) = nullptr;
    if (added != 0) spread(added - std::bit_floor(added));
  }
  void drop_bucket() noexcept {
    spread(--buckets_);
    if (segments_.size() > buckets_ / kSegment + 2) segments_.pop_back();
  }
  // Puts what is in a bucket where it belongs now.
  void spread(std::size_t from) noexcept {
    Storage* storage = std::exchange(bucket(from), nullptr);
    while (storage != nullptr) push(*std::exchange(storage, storage->next));
  }

  std::vector<std::unique_ptr<Segment>> segments_;
  std::size_t buckets_ = 0;
  std::size_t count_ = 0;
};

}  // namespace ebb
