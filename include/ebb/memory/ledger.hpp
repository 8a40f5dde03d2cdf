// The books of one context on one device: every tensor's birth, and its end with the reason for it.
//
// The law: created = live + the four ways of ending, for tensors and for the bytes of their
// storages. A storage's bytes are booked once, however many tensors share it, and end with its last
// tensor, for that tensor's reason. Storages that something still holds after that (a read under
// way, a graph) are in `held` until they are let go.
//
// Plain counters, changed under the context's lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ebb/memory/trace_event.hpp"

namespace ebb {

// Why a tensor ended. The C ABI's ebb_reason.
enum class Reason : std::uint8_t { kDisposed = 0, kRegion = 1, kReclaimed = 2, kShutdown = 3 };
inline constexpr std::size_t kReasons = 4;
std::string_view name_of(Reason reason) noexcept;

// What the ledger writes into the event rings while tracing is on.
inline constexpr auto kTensorBorn = EventKind(16);     // id = handle, site = where, detail = dtype
inline constexpr auto kTensorEnded = EventKind(17);    // id = handle, site = where, detail = Reason
inline constexpr auto kCollected = EventKind(18);      // id = nanoseconds, detail = Collection
inline constexpr auto kTensorMadeAt = EventKind(19);   // id = handle, site = where, told later
inline constexpr auto kTensorRebound = EventKind(20);  // id = handle, now over `storage`
inline constexpr auto kStorageBorn = EventKind(21);    // for a tensor that there is
inline constexpr auto kStorageEnded = EventKind(22);   // no tensor's any more, detail = Reason
inline constexpr auto kStorageRebooked = EventKind(23);  // bytes and device are new
inline constexpr auto kHoldEnded = EventKind(24);        // of a storage without a tensor

// Flags of kTensorBorn, kTensorEnded and kStorageEnded.
inline constexpr std::uint8_t kWithStorage = 1;  // the storage was born, or ended, with it
inline constexpr std::uint8_t kStillHeld = 2;    // it ended, but something holds on to it

// How many, and how many bytes.
struct Tally {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;

  void add(std::uint64_t more_bytes) noexcept {
    ++count;
    bytes += more_bytes;
  }
  void remove(std::uint64_t fewer_bytes) noexcept {
    --count;
    bytes -= fewer_bytes;
  }
  Tally& operator+=(const Tally& other) noexcept {
    count += other.count;
    bytes += other.bytes;
    return *this;
  }
};

struct Books {
  std::uint64_t created = 0;  // tensors
  std::uint64_t live = 0;
  std::array<std::uint64_t, kReasons> ended{};
  std::uint64_t unwatched = 0;  // live, no death notice will come
  Tally created_storages;
  Tally storages;  // live: with a tensor
  Tally held;      // without one
  std::array<std::uint64_t, kReasons> ended_bytes{};
  std::uint64_t peak_live = 0;
  std::uint64_t peak_bytes = 0;  // of storages with a tensor

  Books& operator+=(const Books& other) noexcept;
  // Both sums of the law.
  bool balanced() const noexcept;
};

class Ledger {
 public:
  const Books& books() const noexcept { return books_; }

  void tensor_born(bool watched) noexcept {
    ++books_.created;
    books_.unwatched += watched ? 0 : 1;
    books_.peak_live = std::max(books_.peak_live, ++books_.live);
  }
  void tensor_ended(Reason reason, bool watched) noexcept {
    --books_.live;
    books_.unwatched -= watched ? 0 : 1;
    ++books_.ended[static_cast<std::size_t>(reason)];
  }
  void storage_born(std::uint64_t bytes) noexcept {
    books_.created_storages.add(bytes);
    books_.storages.add(bytes);
    books_.peak_bytes = std::max(books_.peak_bytes, books_.storages.bytes);
  }
  // Its last tensor ended; `held`: something holds on to the memory.
  void storage_ended(Reason reason, std::uint64_t bytes, bool held) noexcept {
    books_.storages.remove(bytes);
    books_.ended_bytes[static_cast<std::size_t>(reason)] += bytes;
    if (held) books_.held.add(bytes);
  }
  void hold_ended(std::uint64_t bytes) noexcept { books_.held.remove(bytes); }
  // A foreign storage was found to have another size.
  void storage_resized(std::uint64_t from, std::uint64_t to) noexcept {
    books_.created_storages.bytes += to - from;
    books_.storages.bytes += to - from;
    books_.peak_bytes = std::max(books_.peak_bytes, books_.storages.bytes);
  }
  // Takes over what another ledger says.
  Ledger& operator+=(const Ledger& other) noexcept {
    books_ += other.books_;
    return *this;
  }
  // A storage with `tensors` tensors moves from one device's ledger to another's; its birth goes
  // along.
  void moved_to(Ledger& other, std::uint64_t tensors, std::uint64_t unwatched,
                std::uint64_t bytes) noexcept;

 private:
  Books books_;
};

}  // namespace ebb
