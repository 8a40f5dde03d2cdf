// Records with 64-bit names: a slot's index and its generation. A stale name is always detected,
// and records never move while the table grows.
//
// A name is `generation << 24 | index` and stays below 2^53, so that a JavaScript number holds it
// exactly. A slot's generation is odd while its record lives and even while it is free; it only
// ever rises. A slot whose generation is used up is retired for good, so no name ever comes twice:
// that costs one slot in 268 million records made in it.
//
// Slots come in chunks from a process-wide SlotSpace, which knows for any name the chunk and so the
// table it belongs to: that is what lets a death notice arrive as a bare name, on any thread. Each
// table (one a context) owns its chunks and gives them to the next table when it ends.
//
// Threads: acquire, release and find need the lock of whoever owns the table. SlotSpace::find_slot
// is lock-free.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "ebb/base/atomic.hpp"
#include "ebb/base/check.hpp"

namespace ebb {

inline constexpr unsigned kSlotIndexBits = 24;
inline constexpr std::uint32_t kSlotIndexMask = (1u << kSlotIndexBits) - 1;
inline constexpr std::uint32_t kLastGeneration = (1u << 29) - 1;  // odd: the last record of a slot

// What every record in a SlotTable derives from.
template <typename T>
struct SlotHeader {
  // generation << 1 | queued. Only the table's owner advances the generation; only a death notice
  // sets `queued` (see OrphanQueue), and it may do so on any thread.
  atomic<std::uint32_t> word{0};
  std::uint32_t index = 0;
  // The next free slot, or the next orphan while the slot is queued.
  atomic<T*> link{nullptr};

  std::uint32_t generation() const noexcept { return word.load(std::memory_order_relaxed) >> 1; }
  bool live() const noexcept { return (generation() & 1u) != 0; }
  bool queued() const noexcept { return (word.load(std::memory_order_relaxed) & 1u) != 0; }
  std::uint64_t name() const noexcept {
    return std::uint64_t{generation()} << kSlotIndexBits | index;
  }
};

constexpr std::uint32_t index_of(std::uint64_t name) noexcept {
  return static_cast<std::uint32_t>(name) & kSlotIndexMask;
}
constexpr std::uint64_t generation_of(std::uint64_t name) noexcept {
  return name >> kSlotIndexBits;
}

template <typename T>
class SlotTable;

template <typename T>
class SlotSpace {
 public:
  static constexpr unsigned kChunkBits = 10;
  static constexpr std::size_t kChunkSlots = std::size_t{1} << kChunkBits;
  static constexpr std::size_t kMostChunks = std::size_t{1} << (kSlotIndexBits - kChunkBits);

  struct Chunk {
    atomic<SlotTable<T>*> table{nullptr};
    Chunk* next_spare = nullptr;
    std::array<T, kChunkSlots> slots;
  };

  constexpr SlotSpace() = default;
  static SlotSpace& instance() noexcept;

  // The slot a name points at, whatever lives there now; null if no such slot was ever made.
  T* find_slot(std::uint64_t name) const noexcept {
    Chunk* chunk = find_chunk(name);
    return chunk == nullptr ? nullptr : &chunk->slots[index_of(name) & (kChunkSlots - 1)];
  }
  // Whether any table ever gave out that name and the record has ended since.
  bool has_ended(std::uint64_t name) const noexcept {
    const T* slot = find_slot(name);
    const std::uint64_t generation = generation_of(name);
    return slot != nullptr && (generation & 1u) != 0 && generation < slot->generation();
  }
  SlotTable<T>* table_of(std::uint64_t name) const noexcept {
    Chunk* chunk = find_chunk(name);
    return chunk == nullptr ? nullptr : chunk->table.load(std::memory_order_acquire);
  }

 private:
  friend class SlotTable<T>;

  Chunk* find_chunk(std::uint64_t name) const noexcept {
    return chunks_[index_of(name) >> kChunkBits].load(std::memory_order_acquire);
  }
  // Throws std::bad_alloc, also when all 2^24 slots are taken.
  Chunk& take_chunk(SlotTable<T>* table) {
    std::lock_guard guard(mutex_);
    Chunk* chunk = spares_;
    if (chunk != nullptr) {
      spares_ = chunk->next_spare;
    } else {
      chunk = make_chunk();
    }
    chunk->table.store(table, std::memory_order_release);
    return *chunk;
  }
  void give_chunk(Chunk& chunk) noexcept {
    std::lock_guard guard(mutex_);
    chunk.table.store(nullptr, std::memory_order_release);
    chunk.next_spare = spares_;
    spares_ = &chunk;
  }
  Chunk* make_chunk() {
    if (used_ == kMostChunks) throw std::bad_alloc();
    Chunk* chunk = std::make_unique<Chunk>().release();  // lives as long as the process
    const auto base = static_cast<std::uint32_t>(used_ << kChunkBits);
    for (std::uint32_t i = 0; i < kChunkSlots; ++i) chunk->slots[i].index = base + i;
    chunks_[used_++].store(chunk, std::memory_order_release);
    return chunk;
  }

  std::array<atomic<Chunk*>, kMostChunks> chunks_{};
  std::mutex mutex_;
  Chunk* spares_ = nullptr;
  std::size_t used_ = 0;
};

// One for the process and each kind of record, there before any code runs and after the statics
// have gone: notices may come late.
template <typename T>
inline constinit SlotSpace<T> slot_space{};

template <typename T>
SlotSpace<T>& SlotSpace<T>::instance() noexcept {
  return slot_space<T>;
}

template <typename T>
class SlotTable {
 public:
  using Space = SlotSpace<T>;
  SlotTable() = default;
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;
  ~SlotTable() { clear(); }

  // A live record with a name never used before; its fields are as the last record left them.
  // Throws std::bad_alloc and then nothing has changed.
  T& acquire() {
    T* slot = free_;
    if (slot != nullptr) [[likely]] {
      free_ = slot->link.load(std::memory_order_relaxed);
    } else {
      slot = take_fresh();
    }
    advance(*slot);
    ++live_;
    return *slot;
  }

  // Makes the record's name stale. True if the slot is also free for reuse; false while a death
  // notice still has it queued: whoever takes it off the queue calls `recycle`.
  bool release(T& slot) noexcept {
    EBB_ASSERT(slot.live());
    --live_;
    const std::uint32_t before = slot.word.fetch_add(2, std::memory_order_acq_rel);
    if ((before & 1u) != 0) return false;
    recycle(slot);
    return true;
  }
  // For a record whose name was made stale (word + 2) without a release, and which is done with
  // now.
  void recycle_ended(T& slot) noexcept {
    --live_;
    recycle(slot);
  }
  // Puts a released slot back. Pre: not live. Clears `queued`.
  void recycle(T& slot) noexcept {
    const std::uint32_t generation = slot.generation();
    slot.word.store(generation << 1, std::memory_order_relaxed);
    if (generation > kLastGeneration) return;  // retired
    slot.link.store(free_, std::memory_order_relaxed);
    free_ = &slot;
  }

  // The live record of that name in this table, or null.
  T* find(std::uint64_t name) const noexcept {
    auto* chunk = Space::instance().find_chunk(name);
    if (chunk == nullptr || chunk->table.load(std::memory_order_relaxed) != this) return nullptr;
    T& slot = chunk->slots[index_of(name) & (Space::kChunkSlots - 1)];
    return slot.generation() == generation_of(name) && slot.live() ? &slot : nullptr;
  }
  // Whether the name, in a chunk of this table, was given out and the record has ended since.
  bool has_ended(std::uint64_t name) const noexcept {
    return Space::instance().has_ended(name) && owns(name);
  }

  std::size_t live() const noexcept { return live_; }
  std::size_t chunk_count() const noexcept { return chunks_.size(); }
  // The slots of one chunk, live or not: for walks that take the lock a chunk at a time.
  std::array<T, Space::kChunkSlots>& chunk(std::size_t i) noexcept { return chunks_[i]->slots; }

  // Gives all chunks to the next table. Pre: no record lives, none is queued.
  void clear() noexcept {
    EBB_CHECK(live_ == 0);
    for (auto* chunk : chunks_) Space::instance().give_chunk(*chunk);
    chunks_.clear();
    free_ = nullptr;
    fresh_ = fresh_end_ = nullptr;
  }

 private:
  bool owns(std::uint64_t name) const noexcept { return Space::instance().table_of(name) == this; }
  T* take_fresh() {
    while (true) {
      if (fresh_ == fresh_end_) add_chunk();
      T* slot = fresh_++;
      if (slot->generation() <= kLastGeneration) return slot;  // not retired by an earlier table
    }
  }
  void add_chunk() {
    chunks_.reserve(chunks_.size() + 1);
    auto& chunk = Space::instance().take_chunk(this);
    chunks_.push_back(&chunk);
    fresh_ = chunk.slots.data();
    fresh_end_ = fresh_ + chunk.slots.size();
  }
  static void advance(T& slot) noexcept {
    slot.word.store(slot.word.load(std::memory_order_relaxed) + 2, std::memory_order_relaxed);
  }

  std::vector<typename Space::Chunk*> chunks_;
  T* free_ = nullptr;
  T* fresh_ = nullptr;  // slots of the newest chunk that this table has not used yet
  T* fresh_end_ = nullptr;
  std::size_t live_ = 0;
};

}  // namespace ebb
