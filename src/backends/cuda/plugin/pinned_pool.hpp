// Host memory that the device copies from and to by itself. It is dear to make, so it is kept.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace ebb::cuda {

class PinnedPool {
 public:
  // A buffer under way: free for the next copy when its event is done.
  struct Buffer {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    cudaEvent_t event = nullptr;
  };
  static constexpr std::size_t kLargestPiece = std::size_t{4} << 20;

  PinnedPool() = default;
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  // ---- pieces of copies, at most kLargestPiece bytes. Throws Failure.
  Buffer take(std::size_t bytes);
  // The copy was queued, and buffer.event recorded behind it.
  void give_when_done(Buffer buffer) noexcept;
  // It is done already, or was never begun.
  void give(Buffer buffer) noexcept;

  // ---- buffers of others. Null: no memory.
  void* allocate(std::size_t bytes) noexcept;
  void free(void* data) noexcept;
  // Whether [data, data + bytes) lies in one of those.
  bool contains(const void* data, std::size_t bytes) const noexcept;

  std::uint64_t committed() const noexcept;

 private:
  // Beyond this many bytes under way, a copy waits for an earlier one.
  static constexpr std::size_t kMostUnderWay = std::size_t{64} << 20;
  static constexpr std::size_t kMostKept = std::size_t{256} << 20;

  bool settle_locked();
  bool fitting_locked(std::size_t bytes, Buffer& found);

  mutable std::mutex mutex_;  // guards what follows
  std::vector<Buffer> free_;
  std::vector<Buffer> under_way_;                // oldest first
  std::multimap<std::size_t, std::byte*> kept_;  // freed by others, by size
  std::map<std::byte*, std::size_t> handed_out_;
  std::uint64_t committed_ = 0;
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t under_way_bytes_ = 0;
};

}  // namespace ebb::cuda
