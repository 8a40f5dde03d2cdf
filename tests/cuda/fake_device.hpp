// What stands behind the fake table: devices whose streams are queues, each with a thread that works through it, and the
// faults that a test asks for.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/plugin.h"

namespace ebb::test::fake {

using Work = std::function<void()>;
inline constexpr std::size_t kStreams = 64;

// What the controls of fake_plugin.hpp set.
struct Faults {
  std::atomic<std::uint64_t> points{0}, target{0};
  std::atomic<bool> later{false}, refuses{false}, loses{false}, held_back{false};
};
Faults& faults() noexcept;

// Counts a fault point: whether it is to fail.
bool fails() noexcept;

// What `last_error` says on this thread from now on.
ebb_cuda_status fail(ebb_cuda_status status, std::string text);
const char* last_error() noexcept;

// How an operation is done later: a copy of all that it needs. None where the fake has no kernel for these dtypes.
using Prepare = std::optional<Work> (*)(const ebb_cuda_call&);
Prepare kernel_of(std::uint32_t op);

}  // namespace ebb::test::fake

struct ebb_cuda_device {
  struct Stream {
    bool exists = false;
    bool works = false;  // has its thread
    bool capturing = false;
    std::uint64_t submitted = 0, finished = 0;
    std::deque<ebb::test::fake::Work> queue;
    std::vector<ebb::test::fake::Work> captured;
    std::vector<std::uint32_t> ops;  // by ticket - 1
  };

  std::mutex mutex;
  std::condition_variable progress;
  std::array<Stream, ebb::test::fake::kStreams> streams;
  std::atomic<bool> lost{false};
  std::string loss;

  ebb_cuda_device() { streams[0].exists = true; }

  void queue(std::uint32_t id, std::uint32_t op, ebb::test::fake::Work work);
  void wait(std::uint32_t id, std::uint64_t ticket);
  // Called by a stream's own thread.
  void lose();

 private:
  void serve(std::uint32_t id);
};

struct ebb_cuda_graph {
  ebb_cuda_device* device;
  std::vector<ebb::test::fake::Work> work;
};
