// The records that books are kept in (slots of handles and regions, storages, layouts) come in
// chunks, from one stock for the process and each kind of record.
//
// A chunk belongs to one RecordPool while a record of it is in use, and to nobody otherwise: then it
// is idle, and whoever needs one next may take it. The stock keeps a few idle chunks as they are and
// gives the memory behind the records of all others back to the system. The chunk itself stays, as
// do its place in the stock and the records' names: a death notice that comes late finds zeros
// where the record was.
//
// Names never come twice, so a named record (SlotHeader) may not begin again at generation 0 when
// its memory comes back. Before it goes, the chunk notes for each 32 records the highest generation
// among them, their floor: there all 32 begin the next time. What that skips is at most what one of
// them was used more often than the others.
//
// Beside records that death notices come for lie their marks (memory/notice_mark.hpp), which stay as
// they are when the memory of the records goes.
//
// Threads: the fields of a chunk are guarded by its owner's lock, in the stock by the stock's mutex;
// `owner` and `floors` are read on any thread, marks are changed on any.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>

#include "base/platform/platform.hpp"
#include "base/process_barrier.hpp"
#include "ebb/base/atomic.hpp"
#include "ebb/memory/device.hpp"
#include "memory/notice_mark.hpp"

namespace ebb {

inline constexpr std::size_t kRecordPage = 4096;
constexpr std::size_t in_pages(std::size_t bytes) noexcept {
  return (bytes + kRecordPage - 1) / kRecordPage * kRecordPage;  // arithmetic: of sizes of types
}

// A record that has a name.
template <typename T>
concept NamedRecord = requires(T record) {
  record.word;
};
// One that death notices come for.
template <typename T>
concept NoticedRecord = requires(T record) {
  record.notice_link;
};

template <typename T, std::size_t kCount>
struct alignas(kRecordPage) RecordChunk {
  static constexpr std::size_t kRecords = kCount;
  static constexpr std::size_t kGroup = 32;                              // records with one floor
  enum class Place : std::uint8_t { kFull, kListed, kSpare, kCurrent };  // in its owner
  struct NoMarks {};
  using Marks = std::conditional_t<NoticedRecord<T>, std::array<NoticeMark, kCount>, NoMarks>;
  static constexpr std::size_t kMarkBytes = NoticedRecord<T> ? in_pages(sizeof(Marks)) : 0;

  atomic<void*> owner{nullptr};
  RecordChunk* prev = nullptr;  // among its owner's that are listed; in the stock only `next`
  RecordChunk* next = nullptr;
  T* free = nullptr;        // given back, newest first
  std::uint32_t fresh = 0;  // from here on none was used since the owner took the chunk
  std::uint32_t used = 0;
  std::uint32_t id = 0;  // of the first name: id * kCount
  DeviceId payer = 0;    // the device whose budget it counts towards; 0: none
  Place place = Place::kFull;
  std::uint32_t looked_at = 0;  // the mark at which has_notices() begins
  std::array<atomic<std::uint32_t>, kCount / kGroup> floors{};
  alignas(kRecordPage) std::array<T, kCount> records;
  [[no_unique_address]] alignas(kRecordPage) Marks marks{};

  // The chunk that a record lies in.
  static RecordChunk& of(T& record) noexcept {
    T* const first = &record - position(record);
    static_assert(sizeof(RecordChunk) == kRecordPage + in_pages(sizeof(records)) + kMarkBytes);
    return *reinterpret_cast<RecordChunk*>(reinterpret_cast<std::byte*>(first) - kRecordPage);
  }
  static std::size_t position(const T& record) noexcept {
    if constexpr (NamedRecord<T>) {
      return record.index & (kCount - 1);
    } else {
      return record.place;
    }
  }
  static NoticeMark& mark_of(T& record) noexcept { return of(record).marks[position(record)]; }
  // Whether a slot of it is in the owner's orphan queue, or a notice that may still put it there is on
  // its way. False where no record of it lives: none will be before the next is made.
  bool has_notices() noexcept {
    if constexpr (NoticedRecord<T>) {
      thread_barrier();  // a notice that has not seen an end before it has set its mark
      for (std::size_t n = 0; n < kCount; ++n) {
        if (marks[looked_at].queued()) return true;
        looked_at = (looked_at + 1) % kCount;
      }
    }
    return false;
  }
  // Before the first use of a record by this owner. False: it has no name left.
  bool prepare(std::uint32_t i) noexcept {
    if constexpr (NamedRecord<T>) {
      const std::uint32_t floor = floors[i / kGroup].load(std::memory_order_relaxed);
      return records[i].prepare(id * static_cast<std::uint32_t>(kCount) + i, floor);
    } else {
      records[i].place = i;
      return true;
    }
  }
  void note_floors() noexcept {
    if constexpr (NamedRecord<T>) {
      for (std::size_t i = 0; i < kCount; ++i) {
        auto& floor = floors[i / kGroup];
        floor.store(std::max(floor.load(std::memory_order_relaxed), records[i].generation()),
                    std::memory_order_release);
      }
    }
  }
};

// kMost: how many there can be, found by id; 0: any number, and none is found.
template <typename Chunk, std::size_t kMost>
class ChunkStock {
 public:
  static constexpr std::size_t kKept = (std::size_t{8} << 20) / sizeof(Chunk);  // with their memory

  constexpr ChunkStock() = default;

  // Null: no more are allowed. Throws std::bad_alloc.
  Chunk* take(void* owner) {
    std::lock_guard guard(mutex_);
    if (!has_room()) return nullptr;
    Chunk* chunk = kept_ != nullptr ? pop(kept_) : bare_ != nullptr ? pop(bare_) : make();
    if (chunk == nullptr) return nullptr;
    taken_.fetch_add(1, std::memory_order_relaxed);
    chunk->owner.store(owner, std::memory_order_release);
    return chunk;
  }
  // Pre: no record of it is in use, it has no notices.
  void give(Chunk& chunk) noexcept {
    std::lock_guard guard(mutex_);
    disown(chunk);
    push(kept_count_ < kKept || !strip(chunk) ? kept_ : bare_, chunk);
  }
  // None of its records has a name left: it is nobody's, and no longer counted.
  void retire(Chunk& chunk) noexcept {
    std::lock_guard guard(mutex_);
    disown(chunk);
  }

  Chunk* find(std::size_t id) const noexcept { return chunks_[id].load(std::memory_order_acquire); }
  std::size_t made() const noexcept { return made_.load(std::memory_order_acquire); }
  std::size_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }
  bool has_room() const noexcept { return kMost == 0 || taken() < most(); }
  // An eighth of them or less is left.
  bool crowded() const noexcept { return taken() >= most() - most() / 8; }
  std::size_t most() const noexcept { return most_.load(std::memory_order_relaxed); }
  // For tests: sixteen million records are three gigabytes.
  void set_most(std::size_t chunks) noexcept { most_.store(chunks, std::memory_order_relaxed); }
  // Bytes of idle chunks that have kept their memory.
  std::size_t kept_bytes() const noexcept {
    std::lock_guard guard(mutex_);
    return kept_count_ * sizeof(Chunk);
  }
  std::mutex& mutex() noexcept { return mutex_; }  // for forks

 private:
  void disown(Chunk& chunk) noexcept {
    chunk.owner.store(nullptr, std::memory_order_release);
    taken_.fetch_sub(1, std::memory_order_relaxed);
  }
  Chunk* pop(Chunk*& list) noexcept {
    kept_count_ -= &list == &kept_ ? 1 : 0;
    Chunk* chunk = list;
    list = chunk->next;
    return chunk;
  }
  void push(Chunk*& list, Chunk& chunk) noexcept {
    kept_count_ += &list == &kept_ ? 1 : 0;
    chunk.next = list;
    list = &chunk;
  }
  static bool strip(Chunk& chunk) noexcept {
    chunk.note_floors();
    return platform::empty_pages(&chunk.records, sizeof(chunk.records));
  }
  // It lives as long as the process.
  Chunk* make() {
    const std::size_t id = made_.load(std::memory_order_relaxed);
    if (kMost != 0 && id == kMost) return nullptr;
    Chunk* chunk = std::make_unique<Chunk>().release();
    chunk->id = static_cast<std::uint32_t>(id);
    if constexpr (kMost != 0) chunks_[id].store(chunk, std::memory_order_release);
    made_.store(id + 1, std::memory_order_release);
    return chunk;
  }

  std::array<atomic<Chunk*>, kMost> chunks_{};
  mutable std::mutex mutex_;
  Chunk* kept_ = nullptr;  // idle, with their memory
  Chunk* bare_ = nullptr;  // idle, without
  std::size_t kept_count_ = 0;
  atomic<std::size_t> made_{0};
  atomic<std::size_t> taken_{0};
  atomic<std::size_t> most_{kMost};
};

// There before any code runs and after the statics have gone: notices may come late.
template <typename Chunk, std::size_t kMost>
inline constinit ChunkStock<Chunk, kMost> chunk_stock{};

}  // namespace ebb
