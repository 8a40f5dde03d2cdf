// The records of one kind that one owner has, in chunks of its own (memory/record_chunk.hpp).
//
// Records are taken from one chunk, the current one, until it is full. One that is given back goes to
// the free list of its own chunk, so that it is known when a chunk has no record in use: one such
// chunk is kept as a spare, any other goes to the stock, unless one of its records is in the owner's
// orphan queue. So ending one allocates nothing, and making one rarely does.
//
// Threads: all under the owner's lock.
#pragma once

#include <optional>

#include "ebb/base/check.hpp"
#include "memory/record_chunk.hpp"

namespace ebb {

// There is no chunk to be had: because of the number of names, or of the payer's budget.
struct NoRecord : std::bad_alloc {
  NoRecord(Device* payer, const void* pool) noexcept : payer(payer), pool(pool) {}
  Device* payer;
  const void* pool;  // that has none
};

template <typename T, std::size_t kCount, std::size_t kMost = 0>
class RecordPool {
 public:
  using Chunk = RecordChunk<T, kCount>;
  using Stock = ChunkStock<Chunk, kMost>;
  static Stock& stock() noexcept { return chunk_stock<Chunk, kMost>; }

  RecordPool() = default;
  RecordPool(const RecordPool&) = delete;
  RecordPool& operator=(const RecordPool&) = delete;

  // The record's fields are the last owner's, or zero. A chunk that is needed counts towards the
  // payer's budget. Throws NoRecord, std::bad_alloc; then nothing has changed.
  T& acquire(Device* payer = nullptr) {
    if (current_ != nullptr && current_->free != nullptr) [[likely]]
      return pop(*current_);
    return acquire_slowly(payer);
  }
  void release(T& record) noexcept {
    Chunk& chunk = Chunk::of(record);
    set_next(record, chunk.free);
    chunk.free = &record;
    if (chunk.place == Chunk::Place::kFull) [[unlikely]]
      list(chunk);
    left(chunk);
  }
  // The same, and it is not used again.
  void retire(T& record) noexcept { left(Chunk::of(record)); }
  // A record that had ended before has been taken off the orphan queue.
  void taken_off(T& record) noexcept {
    Chunk& chunk = Chunk::of(record);
    if (chunk.used == 0 && chunk.place == Chunk::Place::kListed) emptied(chunk);
  }
  // Sees to it that the next acquire() finds a record; false: there is none to be had. What it needs
  // is paid for here, so that nothing else can take it meanwhile.
  bool reserve(Device* payer) noexcept {
    if (current_ != nullptr && (current_->free != nullptr || current_->fresh < kCount)) return true;
    if (listed_ != nullptr || spare_ != nullptr) return true;
    try {
      spare_ = &grow(payer);
    } catch (const std::bad_alloc&) {
      return false;
    }
    spare_->place = Chunk::Place::kSpare;
    return true;
  }

  std::size_t chunks() const noexcept { return chunks_; }
  std::size_t bytes() const noexcept { return chunks_ * sizeof(Chunk); }

  // Whether a record may be in the orphan queue, or come there. Pre: no record is in use.
  bool has_notices() noexcept {
    for (Chunk* chunk = listed_; chunk != nullptr; chunk = chunk->next)
      if (chunk->has_notices()) return true;
    return (current_ != nullptr && current_->has_notices()) ||
           (spare_ != nullptr && spare_->has_notices());
  }
  // Gives what is idle to the stock. Pre: no record is in use, has_notices() was false since.
  void clear() noexcept {
    while (listed_ != nullptr) {
      Chunk& chunk = *listed_;
      EBB_CHECK(chunk.used == 0);
      unlist(chunk);
      give(chunk);
    }
    for (Chunk** chunk : {&current_, &spare_}) {
      if (*chunk != nullptr) give(**chunk);
      *chunk = nullptr;
    }
  }

 private:
  static T* next_of(const T& record) noexcept {
    if constexpr (NamedRecord<T>) {
      return record.link;
    } else {
      return record.next;
    }
  }
  static void set_next(T& record, T* next) noexcept {
    if constexpr (NamedRecord<T>) {
      record.link = next;
    } else {
      record.next = next;
    }
  }
  static T& pop(Chunk& chunk) noexcept {
    T& record = *chunk.free;
    chunk.free = next_of(record);
    ++chunk.used;
    return record;
  }
  void left(Chunk& chunk) noexcept {
    if (--chunk.used == 0 && &chunk != current_) [[unlikely]]
      emptied(chunk);
  }

  [[gnu::noinline]] T& acquire_slowly(Device* payer) {
    while (true) {
      if (current_ == nullptr) current_ = &next_chunk(payer);
      Chunk& chunk = *current_;
      if (chunk.free != nullptr) return pop(chunk);
      while (chunk.fresh < kCount) {
        const std::uint32_t i = chunk.fresh++;
        if (!chunk.prepare(i)) continue;
        ++chunk.used;
        return chunk.records[i];
      }
      chunk.place = Chunk::Place::kFull;
      current_ = nullptr;
      if (chunk.used == 0) drop(chunk, [](Chunk& worn) { stock().retire(worn); });
    }
  }
  Chunk& next_chunk(Device* payer) {
    Chunk* chunk = listed_ != nullptr ? listed_ : spare_ != nullptr ? spare_ : &grow(payer);
    if (chunk == listed_) unlist(*chunk);
    if (chunk == spare_) spare_ = nullptr;
    chunk->place = Chunk::Place::kCurrent;
    return *chunk;
  }
  Chunk& grow(Device* payer) {
    const auto paid = payer == nullptr ? DeviceId{0} : payer->charge_records(sizeof(Chunk));
    if (!paid) throw NoRecord(payer, this);
    Chunk* chunk = nullptr;
    try {
      chunk = stock().take(this);
    } catch (...) {
      Device::refund_records(*paid, sizeof(Chunk));
      throw;
    }
    if (chunk == nullptr) {
      Device::refund_records(*paid, sizeof(Chunk));
      throw NoRecord(payer, this);
    }
    chunk->payer = *paid;
    chunk->free = nullptr;
    chunk->fresh = chunk->used = 0;
    ++chunks_;
    return *chunk;
  }

  [[gnu::noinline]] void emptied(Chunk& chunk) noexcept {
    if (spare_ != nullptr && chunk.has_notices()) {
      if (chunk.place != Chunk::Place::kListed) list(chunk);
      return;
    }
    if (chunk.place == Chunk::Place::kListed) unlist(chunk);
    if (spare_ != nullptr) return give(chunk);
    spare_ = &chunk;
    chunk.place = Chunk::Place::kSpare;
  }
  template <typename How>
  void drop(Chunk& chunk, How&& how) noexcept {
    --chunks_;
    Device::refund_records(chunk.payer, sizeof(Chunk));
    how(chunk);
  }
  void give(Chunk& chunk) noexcept {
    drop(chunk, [](Chunk& idle) { stock().give(idle); });
  }

  [[gnu::noinline]] void list(Chunk& chunk) noexcept {
    chunk.place = Chunk::Place::kListed;
    chunk.prev = nullptr;
    chunk.next = listed_;
    if (listed_ != nullptr) listed_->prev = &chunk;
    listed_ = &chunk;
  }
  void unlist(Chunk& chunk) noexcept {
    (chunk.prev != nullptr ? chunk.prev->next : listed_) = chunk.next;
    if (chunk.next != nullptr) chunk.next->prev = chunk.prev;
  }

  Chunk* current_ = nullptr;
  Chunk* listed_ = nullptr;  // others with a free record
  Chunk* spare_ = nullptr;   // one with no record in use
  std::size_t chunks_ = 0;
};

// Records that have no names (storages, strided layouts), counted.
template <typename T>
class RecordArena {
 public:
  RecordArena() = default;
  ~RecordArena() { clear(); }

  T& acquire(Device* payer) {
    T& record = pool_.acquire(payer);
    ++count_;
    return record;
  }
  void release(T& record) noexcept {
    --count_;
    pool_.release(record);
  }
  std::size_t count() const noexcept { return count_; }
  std::size_t bytes() const noexcept { return pool_.bytes(); }
  bool reserve(Device* payer) noexcept { return pool_.reserve(payer); }
  void clear() noexcept {
    if (count_ == 0) pool_.clear();
  }
  bool lacks(const NoRecord& record) const noexcept { return record.pool == &pool_; }

  using Pool = RecordPool<T, 256>;

 private:
  Pool pool_;
  std::size_t count_ = 0;
};

}  // namespace ebb
