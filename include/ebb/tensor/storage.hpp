// Storage: the counted owner of one Block, or of another runtime's data. Tensors view it.
//
// Its count is one for all its tensors together plus one for each StorageRef. New references are
// taken under the context's lock while a tensor still exists, so the count can only fall once the
// tensors are gone; whoever takes it to zero gives the memory back.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>

#include "ebb/memory/device.hpp"
#include "ebb/memory/pool.hpp"

namespace ebb {

class ContextBody;

struct Storage {
  std::atomic<std::uint32_t> refs{0};
  std::uint32_t tensors = 0;    // guarded by the context's lock, like all below
  std::uint32_t unwatched = 0;  // of the tensors, those no death notice will come for
  std::uint32_t place = 0;      // in its chunk of records
  Device* device = nullptr;
  ContextBody* context = nullptr;
  Block block;              // none: foreign
  UseNote* note = nullptr;  // the streams that used the block, beyond its own
  std::uint64_t bytes = 0;  // booked: the block's, or what the host said
  std::uint64_t key = 0;    // foreign: what the host calls the data
  Storage* next = nullptr;  // in a free list, or among foreign data whose keys share a bucket

  bool foreign() const noexcept { return block.data == nullptr; }
};

// Holds a storage, and so its memory, whatever becomes of its tensors: an operation's operand, a
// read under way. Made by Context::hold.
class [[nodiscard]] StorageRef {
 public:
  StorageRef() = default;
  StorageRef(StorageRef&& other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
  StorageRef& operator=(StorageRef&& other) noexcept {
    StorageRef(std::move(other)).swap(*this);
    return *this;
  }
  ~StorageRef() { reset(); }

  void reset() noexcept {
    if (storage_ != nullptr && storage_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      last_released(*storage_);
    }
    storage_ = nullptr;
  }
  void swap(StorageRef& other) noexcept { std::swap(storage_, other.storage_); }

  explicit operator bool() const noexcept { return storage_ != nullptr; }
  // The bytes of the block; empty for foreign data.
  std::span<std::byte> data() const noexcept {
    return {storage_->block.data, storage_->block ? std::size_t(storage_->bytes) : 0};
  }
  Device& device() const noexcept { return *storage_->device; }
  // The stream it was made for: what it holds was written there.
  StreamId home_stream() const noexcept { return Pool::home_stream(storage_->block); }
  // Must come before work on the memory is queued on that stream: the block, once freed, waits for
  // it. Throws OutOfMemory where the note cannot be kept; then the work must not be queued.
  void note_use(StreamId stream) const;

 private:
  friend class ContextBody;
  explicit StorageRef(Storage& storage) noexcept : storage_(&storage) {}
  static void last_released(Storage& storage) noexcept;

  Storage* storage_ = nullptr;
};

}  // namespace ebb
