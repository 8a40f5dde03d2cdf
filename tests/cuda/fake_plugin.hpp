// The plug-in's table over host memory: what it queues is done later, on threads of its own, and
// everything that may fail can be made to. A few operations, enough to train on: Add, Cast, Fill,
// BatchMatMul, and chains of sums. Each test takes a device of its own ("cuda:0" to "cuda:15"): a lost one stays lost.
#pragma once

#include <cstdint>

#include "backends/cuda/plugin.h"

namespace ebb::test::fake {

// Takes the plug-in's place for the length of a test.
class Installed {
 public:
  Installed();
  ~Installed();
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
};

const ebb_cuda_table& table() noexcept;

// Starts counting again, and fails fault point `n` (0: none), with `and_later` all from it on.
// Reserving, committing, recording, copying, pinned memory, capturing and running are fault points.
void fail_at(std::uint64_t n, bool and_later = false) noexcept;
std::uint64_t fault_points() noexcept;

// While on, nothing that is queued gets done.
void hold_back(bool on) noexcept;
// The next kernel refuses at once.
void refuse_next_kernel() noexcept;
// The next kernel is queued, and takes the device with it when it runs.
void lose_with_next_kernel() noexcept;
// Bytes that all its devices have committed, and buffers of pinned memory that were not given back.
std::uint64_t committed() noexcept;
std::uint64_t pinned_buffers() noexcept;

}  // namespace ebb::test::fake
