// The heap seam: what a device must provide to hold memory. A dozen functions, each with its pre-
// and postcondition; the Pool is written against these and nothing else, and never touches the
// bytes it manages, so that memory the host cannot address fits behind the same seam.
//
// Two halves:
//   memory    address ranges are reserved, and parts of them committed (backed) and decommitted;
//   time      work is queued on streams and finishes later. A position in a stream is a ticket: a
//             number that grows with each piece of work queued.
//
// A synchronous heap (system memory) has finished everything as soon as it is submitted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ebb {

// A queue of device work, 0 <= id < kMaxStreams. Stream 0 exists always.
using StreamId = std::uint32_t;
inline constexpr StreamId kDefaultStream = 0;
inline constexpr StreamId kMaxStreams = 64;

// The number of a piece of work in its stream. Per id it never goes back, even when the stream is
// destroyed and the id is used again.
using Ticket = std::uint64_t;

// "Everything queued on `stream` up to and including `ticket`." A plain value; copying costs
// nothing.
struct Event {
  StreamId stream = kDefaultStream;
  Ticket ticket = 0;
  friend bool operator==(const Event&, const Event&) = default;
};

class DeviceLink;

// A good size for one reservation of addresses: next to nothing where there are 64 bits of them.
inline constexpr std::size_t kAmpleSpan = std::size_t{1} << (sizeof(std::size_t) == 8 ? 36 : 24);

struct HeapTraits {
  std::string_view name;           // for messages, "system" or "cuda:0"
  std::size_t alignment = 0;       // of every reserved range; a power of two
  std::size_t granule = 0;         // unit of commit and decommit; a power of two
  std::size_t capacity = 0;        // bytes that can be committed at best
  std::size_t preferred_span = 0;  // a good size for one reservation; a multiple of granule
  bool synchronous = true;         // nothing is ever pending: submitted() is always 0
};

// Thread-safe: all functions may be called at once from several threads.
class Heap {
 public:
  Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  virtual ~Heap() = default;

  // Constant over the heap's life.
  virtual HeapTraits traits() const noexcept = 0;

  // Takes an address range. Pre: bytes > 0, a multiple of the granule. Post: a range aligned to
  // traits().alignment that overlaps no other and has nothing committed; or null, nothing changed.
  virtual std::byte* reserve(std::size_t bytes) noexcept = 0;

  // Gives a range back. Pre: exactly what reserve returned; all of it is decommitted, or is
  // committed and will be given up with the range.
  virtual void unreserve(std::byte* base, std::size_t bytes) noexcept = 0;

  // Backs [base, base + bytes) with memory; contents are undefined. Pre: inside one reserved range,
  // granule-aligned at both ends, no part committed. Post: true, and usable by every stream; or
  // false, the device is exhausted and nothing changed.
  virtual bool commit(std::byte* base, std::size_t bytes) noexcept = 0;

  // Takes the backing away. Pre: as commit, all of it committed, no unfinished work touches it.
  // Cannot fail; the address range stays reserved.
  virtual void decommit(std::byte* base, std::size_t bytes) noexcept = 0;

  // A new stream. Post: an id in 1..kMaxStreams-1. Throws Error(kDevice) when there is none left.
  virtual StreamId create_stream() = 0;

  // Pre: an id from create_stream, once. Post: all its work is done; the id may be handed out
  // again.
  virtual void destroy_stream(StreamId stream) noexcept = 0;

  // The ticket of the last work queued on the stream; 0 if there never was any. Costs no device
  // call.
  virtual Ticket submitted(StreamId stream) const noexcept = 0;

  // An event that covers everything queued on the stream so far, so that done() can be polled for
  // it. No device call where nothing was queued since the last record. Nothing: the device refused,
  // and nothing changed; wait() still works.
  virtual std::optional<Event> record(StreamId stream) noexcept = 0;

  // Whether the event's work has finished; never blocks. Pre: ticket <= submitted(stream). False is
  // always allowed for a position that was never recorded. Once true, true for ever.
  virtual bool done(Event event) noexcept = 0;

  // Blocks until the event's work has finished. Pre: ticket <= submitted(stream); it need not have
  // been recorded. Post: done(event).
  virtual void wait(Event event) noexcept = 0;

  // Makes work queued on `stream` from now on start after the event. Does not block the caller.
  // Pre: the event was recorded.
  virtual void order(StreamId stream, Event event) noexcept = 0;

  // Copies and captures (ebb/memory/device_link.hpp). Null: the host can address the memory.
  virtual DeviceLink* link() noexcept { return nullptr; }
};

}  // namespace ebb
