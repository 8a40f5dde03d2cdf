// What a device that works on its own provides beside its heap: copies to and from the host, and
// work that is captured once and replayed. A heap whose memory the host can address has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ebb/memory/heap.hpp"

namespace ebb {

// Every function may be called from any thread at once. Those that can fail throw Error: kDevice
// where the device refused or is lost, OutOfMemory where there is no memory.
class DeviceLink {
 public:
  virtual ~DeviceLink() = default;

  // ---- copies, queued on a stream like any other work
  // `from` may be reused at return.
  virtual void write(StreamId stream, std::byte* to, std::span<const std::byte> from) = 0;
  // Returns when the bytes are there. Waits for what that stream was given before, nothing else.
  virtual void read(StreamId stream, std::span<std::byte> to, const std::byte* from) = 0;
  // Within the device.
  virtual void copy(StreamId stream, std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  // Elements of so many bytes, which lie as the strides (in elements) say, one after the other in
  // row-major order. Within the device.
  virtual void pack(StreamId stream, std::byte* to, const std::byte* from, std::size_t element,
                    std::span<const std::int64_t> dims, std::span<const std::int64_t> strides) = 0;

  // ---- a read that nobody waits for: its bytes are in `staging` when the stream has come so far
  virtual void begin_read(StreamId stream, std::byte* staging, const std::byte* from,
                          std::size_t bytes) = 0;
  // Host memory that the device writes by itself. Throws OutOfMemory.
  virtual std::byte* take_staging(std::size_t bytes) = 0;
  virtual void give_staging(std::byte* staging) noexcept = 0;
  // Host memory that is kept for copies.
  virtual std::uint64_t staging_bytes() const noexcept = 0;

  // ---- capture and replay. What is queued on the stream meanwhile is recorded, not done.
  virtual void begin_capture(StreamId stream) = 0;
  virtual void* end_capture(StreamId stream) = 0;
  virtual bool captures(StreamId stream) const noexcept = 0;
  virtual void replay(void* graph, StreamId stream) = 0;
  virtual void drop(void* graph) noexcept = 0;

  // A choice of the device's own, by name: "matmul_math" = "f32", "tf32" or "bf16".
  virtual void set_option(const char* name, const char* value) = 0;
  // Throws Error(kDevice) once the device is lost, with what is known of why.
  virtual void check() const = 0;
};

}  // namespace ebb
