// What came out of ending some tensors under the lock, to be done after it is released: blocks back
// to their pools, and foreign tensors to their host.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "tensor/context_body.hpp"

namespace ebb {

class ContextBody::EndBatch {
 public:
  EndBatch(const EndBatch&) = delete;
  EndBatch& operator=(const EndBatch&) = delete;

  // No room for one more tensor. Views free nothing, but the lock is not held for a million of
  // them.
  bool full() const noexcept {
    return freed_count_ == most_ || ended_count_ == most_ || drained_.tensors >= kMostTensors;
  }
  // The host has not ended these itself: it is told of the foreign ones among them.
  bool for_host() const noexcept { return for_host_; }
  bool tells_host() const noexcept { return ended_count_ != 0; }

  void add_freed(const Storage& storage) noexcept {
    std::construct_at(freed_ + freed_count_++,
                      Freed{&storage.device->pool(), storage.block, storage.note});
  }
  void add_ended(const ForeignEnd& end) noexcept {
    std::construct_at(ended_ + ended_count_++, end);
  }
  void count_tensor() noexcept { ++drained_.tensors; }
  void count_bytes(std::uint64_t bytes) noexcept { drained_.bytes += bytes; }
  const Drained& drained() const noexcept { return drained_; }

  bool frees() const noexcept { return freed_count_ != 0; }
  // Counted when the blocks are back, before the host is told of anything.
  void count_back_in(std::atomic<std::uint64_t>& counter) noexcept { back_ = &counter; }

  // Once, without the lock.
  void carry_out(Host* host) {
    for (std::size_t i = 0; i < freed_count_; ++i) {
      const Freed& freed = freed_[i];
      if (freed.note == nullptr) [[likely]] {
        freed.pool->free(freed.block);
      } else {
        freed.pool->free(freed.block, freed.note);
      }
    }
    if (back_ != nullptr) back_->fetch_add(1, std::memory_order_release);
    if (ended_count_ != 0 && host != nullptr) host->end({ended_, ended_count_});
  }

 protected:
  struct Freed {
    Pool* pool;
    Block block;
    UseNote* note;
  };
  EndBatch(Freed* freed, ForeignEnd* ended, std::size_t most, bool for_host) noexcept
      : freed_(freed), ended_(ended), most_(most), for_host_(for_host) {}

 private:
  static constexpr std::uint64_t kMostTensors = 256;

  Freed* freed_;
  ForeignEnd* ended_;
  std::size_t most_;
  const bool for_host_;
  std::size_t freed_count_ = 0;
  std::size_t ended_count_ = 0;
  std::atomic<std::uint64_t>* back_ = nullptr;
  Drained drained_;
};

// The arrays start out as raw bytes: one of these is made for every single end.
template <std::size_t kMost>
class ContextBody::EndBatchOf : public ContextBody::EndBatch {
 public:
  explicit EndBatchOf(bool for_host = true) noexcept
      : EndBatch(reinterpret_cast<Freed*>(freed_), reinterpret_cast<ForeignEnd*>(ended_), kMost,
                 for_host) {}

 private:
  static_assert(std::is_trivially_destructible_v<Freed>);
  static_assert(std::is_trivially_destructible_v<ForeignEnd>);
  alignas(Freed) std::byte freed_[kMost * sizeof(Freed)];
  alignas(ForeignEnd) std::byte ended_[kMost * sizeof(ForeignEnd)];
};

}  // namespace ebb
