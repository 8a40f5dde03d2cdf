// Records with 64-bit names: a slot's index and its generation. A stale name is always detected,
// and records never move while the table grows.
//
// A name is `generation << 24 | index` and stays below 2^53, so that a JavaScript number holds it
// exactly. A slot's generation is odd while its record lives and even while it is free; it only
// ever rises. A slot whose generation is used up is retired for good, so no name ever comes twice:
// that costs one slot in 268 million records made in it.
//
// Slots come in chunks from a process-wide stock (memory/record_chunk.hpp). SlotSpace knows for any
// name the chunk and so the table it belongs to: that is what lets a death notice arrive as a bare
// name, on any thread. A table (one a context) has the chunks in which it has records; those without
// go back to the stock, for any table.
//
// Threads: acquire, release and find need the lock of whoever owns the table. SlotSpace is lock-free.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ebb/base/atomic.hpp"
#include "ebb/base/check.hpp"
#include "memory/chunk_slots.hpp"
#include "memory/record_pool.hpp"

namespace ebb {

inline constexpr unsigned kSlotIndexBits = 24;
inline constexpr std::uint32_t kSlotIndexMask = (1u << kSlotIndexBits) - 1;
inline constexpr std::uint32_t kLastGeneration = (1u << 29) - 1;  // odd: the last record of a slot

// What every record in a SlotTable derives from.
template <typename T>
struct SlotHeader {
  atomic<std::uint32_t> word{0};  // the generation; only the table's owner changes it
  std::uint32_t index = 0;
  T* link = nullptr;  // the next free slot, or what the owner links while the record lives

  std::uint32_t generation() const noexcept { return word.load(std::memory_order_relaxed); }
  bool live() const noexcept { return (generation() & 1u) != 0; }
  std::uint64_t name() const noexcept {
    return std::uint64_t{generation()} << kSlotIndexBits | index;
  }
  // As the slot of that index, free, its generation not below the floor. False: none is left.
  bool prepare(std::uint32_t place, std::uint32_t floor) noexcept {
    index = place;
    if (generation() < floor) word.store(floor, std::memory_order_relaxed);
    return generation() <= kLastGeneration;
  }
};

constexpr std::uint32_t index_of(std::uint64_t name) noexcept {
  return static_cast<std::uint32_t>(name) & kSlotIndexMask;
}
constexpr std::uint64_t generation_of(std::uint64_t name) noexcept {
  return name >> kSlotIndexBits;
}

inline constexpr std::size_t kMostSlotChunks = (std::size_t{1} << kSlotIndexBits) / kChunkSlots;

template <typename T>
class SlotTable;

// The slots of all tables.
template <typename T>
class SlotSpace {
 public:
  using Pool = RecordPool<T, kChunkSlots, kMostSlotChunks>;
  using Chunk = typename Pool::Chunk;
  static auto& stock() noexcept { return Pool::stock(); }
  static std::size_t most_names() noexcept { return stock().most() * kChunkSlots; }

  // The slot a name points at, whatever lives there now; null if no such slot was ever made.
  static T* find_slot(std::uint64_t name) noexcept {
    Chunk* chunk = find_chunk(name);
    return chunk == nullptr ? nullptr : &chunk->records[index_of(name) % kChunkSlots];
  }
  // Whether a table may have given out that name, and the record has ended since. Where the slot's
  // memory has gone since, the floor knows: it is noted before that, and read after the slot.
  static bool has_ended(std::uint64_t name) noexcept {
    const Chunk* chunk = find_chunk(name);
    if (chunk == nullptr) return false;
    const std::size_t i = index_of(name) % kChunkSlots;
    const std::uint32_t here = chunk->records[i].word.load(std::memory_order_acquire);
    const std::uint32_t floor = chunk->floors[i / Chunk::kGroup].load(std::memory_order_acquire);
    const std::uint64_t generation = generation_of(name);
    return (generation & 1u) != 0 && generation < std::max(here, floor);
  }
  static SlotTable<T>* table_of(std::uint64_t name) noexcept {
    const Chunk* chunk = find_chunk(name);
    return chunk == nullptr ? nullptr : owner(*chunk);
  }

  // The first step of a death notice, on any thread: the slot that the caller has to link into the
  // orphan queue of the table it is in (OrphanQueue), and which stays in that table until it is taken
  // off there. Null: the name is stale, was noticed before, or another notice links the slot.
  static T* mark(std::uint64_t name) noexcept {
    Chunk* const chunk = find_chunk(name);
    if (chunk == nullptr) return nullptr;
    const std::size_t i = index_of(name) % kChunkSlots;
    T& slot = chunk->records[i];
    const std::uint32_t generation = slot.generation();
    if (generation != generation_of(name) || (generation & 1u) == 0) return nullptr;
    NoticeMark& mark = chunk->marks[i];
    return mark.set(generation) && mark.is_of_living(slot.word, generation) ? &slot : nullptr;
  }
  // Whether a notice came for the record that the slot has. Under its table's lock.
  static bool is_noticed(const T& slot) noexcept {
    return Chunk::mark_of(const_cast<T&>(slot)).is_for(slot.generation());
  }
  // As if none had come. Pre: is_noticed(), off the queue.
  static void forget_notice(T& slot) noexcept { Chunk::mark_of(slot).forget(); }
  // In the child of a fork, on the only thread, with all locks taken: notices for slots of no table,
  // that were on their way, will not take their marks back.
  static void forget_marks_of_nobody() noexcept {
    for (std::size_t c = 0; c < stock().made(); ++c) {
      Chunk& chunk = *stock().find(c);
      if (owner(chunk) != nullptr) continue;
      for (NoticeMark& mark : chunk.marks) mark.forget();
    }
  }

 private:
  friend class SlotTable<T>;

  static Chunk* find_chunk(std::uint64_t name) noexcept {
    return stock().find(index_of(name) / kChunkSlots);
  }
  static SlotTable<T>* owner(const Chunk& chunk) noexcept {
    void* const pool = chunk.owner.load(std::memory_order_acquire);
    return static_cast<SlotTable<T>*>(static_cast<Pool*>(pool));
  }
};

template <typename T>
class SlotTable : SlotSpace<T>::Pool {
 public:
  using Space = SlotSpace<T>;
  using Pool = typename Space::Pool;
  using Pool::bytes;
  using Pool::chunks;
  using Pool::reserve;
  SlotTable() = default;
  ~SlotTable() { clear(); }

  // A live record with a name never used before. As RecordPool::acquire.
  T& acquire(Device* payer = nullptr) {
    T& slot = Pool::acquire(payer);
    // Released: a notice that finds the name finds the table it is in.
    slot.word.store(slot.generation() + 1, std::memory_order_release);
    ++live_;
    return slot;
  }

  // Makes the record's name stale, and the slot free for the next, whether or not it is in the orphan
  // queue.
  void release(T& slot) noexcept {
    end(slot);
    recycle(slot);
  }
  // The two halves of it, for a record that is needed for a while after its name is stale.
  static void end(T& slot) noexcept {
    EBB_ASSERT(slot.live());
    slot.word.store(slot.generation() + 1, std::memory_order_relaxed);
  }
  void recycle(T& slot) noexcept {
    --live_;
    if (slot.generation() > kLastGeneration) [[unlikely]]
      return Pool::retire(slot);
    Pool::release(slot);
  }
  // The slot has just been taken off the orphan queue. Whether a notice came for the record that it has
  // now; one that had ended before is nothing to anybody.
  bool take_off(T& slot) noexcept {
    if (Space::Chunk::mark_of(slot).take_off(slot.generation())) return true;
    Pool::taken_off(slot);
    return false;
  }

  // The live record of that name in this table, or null.
  T* find(std::uint64_t name) const noexcept {
    auto* chunk = Space::find_chunk(name);
    if (chunk == nullptr || !owns(*chunk)) return nullptr;
    T& slot = chunk->records[index_of(name) % kChunkSlots];
    return slot.generation() == generation_of(name) && slot.live() ? &slot : nullptr;
  }
  // Whether a table may have given out that name and the record has ended: this one, or, where the
  // chunk has changed hands since, any.
  static bool has_ended(std::uint64_t name) noexcept { return Space::has_ended(name); }
  // The slot of a name that has ended, while nobody has used it since; null otherwise.
  const T* find_ended(std::uint64_t name) const noexcept {
    auto* chunk = Space::find_chunk(name);
    if (chunk == nullptr || !owns(*chunk)) return nullptr;
    const T& slot = chunk->records[index_of(name) % kChunkSlots];
    return slot.generation() == generation_of(name) + 1 ? &slot : nullptr;
  }

  std::size_t live() const noexcept { return live_; }
  // For readers that take the lock a chunk at a time: the chunks of all tables, whether one is this
  // table's (a hint outside the lock: it is, if it was and has a record since), its slots, live or
  // not.
  static std::size_t chunk_end() noexcept { return Space::stock().made(); }
  bool has_chunk(std::size_t i) const noexcept { return owns(*Space::stock().find(i)); }
  std::span<T> chunk(std::size_t i) noexcept {
    auto* chunk = Space::stock().find(i);
    return owns(*chunk) ? std::span<T>(chunk->records.data(), chunk->fresh) : std::span<T>();
  }

  // Whether a slot is in the orphan queue, or may still come there by a notice that is on its way.
  // Pre: no record lives.
  bool has_notices() noexcept {
    EBB_ASSERT(live_ == 0);
    return Pool::has_notices();
  }
  // In the child of a fork, on the only thread: has `relink` put each slot into the queue anew that is
  // marked as queued. Whether the notice had come so far is not known.
  template <typename Relink>
  void for_each_queued(Relink&& relink) {
    for (std::size_t c = 0; c < chunk_end(); ++c) {
      auto& chunk = *Space::stock().find(c);
      if (!owns(chunk)) continue;
      for (std::size_t i = 0; i < kChunkSlots; ++i) {
        if (!chunk.marks[i].queued()) continue;
        if (i < chunk.fresh) {
          relink(chunk.records[i]);
        } else {
          chunk.marks[i].forget();  // late, for a record of another table
        }
      }
    }
  }

  // Gives all chunks back. Pre: no record lives, none is queued.
  void clear() noexcept {
    EBB_CHECK(live_ == 0);
    Pool::clear();
  }

 private:
  friend class SlotSpace<T>;

  bool owns(const typename Space::Chunk& chunk) const noexcept {
    return chunk.owner.load(std::memory_order_relaxed) == static_cast<const Pool*>(this);
  }

  std::size_t live_ = 0;
};

}  // namespace ebb
