// One GPU as the plug-in knows it: its streams, how far each has come, and what went wrong.
//
// A stream's work is numbered: `run` and the copies raise its ticket when they have queued all of
// theirs. An event is recorded only when somebody asks how far the stream is, and covers every
// ticket up to then.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cuda/plugin/address_space.hpp"
#include "backends/cuda/plugin/kernel.hpp"
#include "backends/cuda/plugin/pinned_pool.hpp"

namespace ebb::cuda {

enum class Math : std::uint8_t { kF32, kTf32, kBf16 };

class DeviceState {
 public:
  static constexpr std::uint32_t kMaxStreams = 64;

  // Throws Failure.
  explicit DeviceState(int ordinal);
  ~DeviceState();
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  int ordinal() const noexcept { return ordinal_; }
  int multiprocessors() const noexcept { return multiprocessors_; }
  // Makes the device the calling thread's.
  void enter() const;

  Math matmul_math() const noexcept { return matmul_math_.load(std::memory_order_relaxed); }
  Math conv_math() const noexcept { return conv_math_.load(std::memory_order_relaxed); }
  void set_option(std::string_view name, std::string_view value);

  // ---- streams
  cudaStream_t stream(std::uint32_t id) const noexcept { return streams_[id].stream; }
  std::uint32_t create_stream();
  void destroy_stream(std::uint32_t id);
  std::uint64_t submitted(std::uint32_t id) const noexcept {
    return streams_[id].submitted.load(std::memory_order_acquire);
  }
  // All work of one call is queued; `op` names it should it fail later (0: a copy or a replay).
  void note_queued(std::uint32_t id, ops::OpId op) noexcept;
  std::uint64_t record(std::uint32_t id);
  bool done(std::uint32_t id, std::uint64_t ticket);
  void wait(std::uint32_t id, std::uint64_t ticket);
  void order(std::uint32_t id, std::uint32_t after, std::uint64_t ticket);
  void wait_all();

  // ---- capture
  bool capturing(std::uint32_t id) const noexcept {
    return streams_[id].capturing.load(std::memory_order_relaxed);
  }
  void capture_begin(std::uint32_t id);
  cudaGraph_t capture_end(std::uint32_t id);
  // For uploads while a stream captures.
  cudaStream_t side_stream();

  // ---- errors
  bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  std::string loss() const;
  // A sticky error was seen: keeps its text, with the operations that may have caused it.
  void lose(std::string_view text);

  AddressSpace& addresses() noexcept { return *addresses_; }
  PinnedPool& pinned() noexcept { return *pinned_; }

  // One T of the device, made at the first call as T(DeviceState&): the handles of a library.
  template <typename T>
  T& part() {
    static const std::size_t slot = next_slot();
    void* made = parts_[slot].load(std::memory_order_acquire);
    if (made == nullptr)
      made = make_part(slot, [](DeviceState& device) -> std::shared_ptr<void> {
        return std::make_shared<T>(device);
      });
    return *static_cast<T*>(made);
  }

 private:
  static constexpr std::size_t kParts = 16;
  static constexpr std::size_t kRing = 64;
  using MakePart = std::shared_ptr<void> (*)(DeviceState&);

  struct Recorded {
    std::uint64_t ticket;
    cudaEvent_t event;
  };
  struct Stream {
    cudaStream_t stream = nullptr;
    std::atomic<std::uint64_t> submitted{0};
    std::atomic<std::uint64_t> finished{0};
    std::atomic<bool> capturing{false};
    std::array<std::atomic<std::uint16_t>, kRing> ops{};  // by ticket
    std::mutex mutex;                                     // guards what follows
    std::deque<Recorded> recorded;
    std::uint64_t last_recorded = 0;
  };

  static std::size_t next_slot();
  void* make_part(std::size_t slot, MakePart make);
  cudaEvent_t take_event();
  void give_event(cudaEvent_t event) noexcept;
  std::uint64_t record_locked(Stream& stream);
  void look_locked(Stream& stream);
  std::string queued_operations() const;

  const int ordinal_;
  int multiprocessors_ = 0;
  std::atomic<Math> matmul_math_{Math::kF32};
  std::atomic<Math> conv_math_{Math::kF32};
  std::array<Stream, kMaxStreams> streams_;
  std::mutex streams_mutex_;
  std::mutex events_mutex_;
  std::vector<cudaEvent_t> events_;
  std::once_flag side_once_;
  cudaStream_t side_ = nullptr;
  std::atomic<bool> lost_{false};
  mutable std::mutex loss_mutex_;
  std::string loss_;
  std::mutex parts_mutex_;
  std::array<std::atomic<void*>, kParts> parts_{};
  std::array<std::shared_ptr<void>, kParts> owned_parts_;
  std::unique_ptr<AddressSpace> addresses_;
  std::unique_ptr<PinnedPool> pinned_;
};

}  // namespace ebb::cuda

// What plugin.h leaves opaque.
struct ebb_cuda_device {
  explicit ebb_cuda_device(int ordinal) : state(ordinal) {}
  ebb::cuda::DeviceState state;
};
