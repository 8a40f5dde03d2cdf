// Threads of Ebb's own that help with loops.
//
// A helper that wakes late keeps nobody waiting (shared_loop.hpp): what it was late for is done. Calling
// them costs a system call where they sleep, and does not wait; a thread that knows that loops will come
// calls them, does something else, and finds them there.
//
// The crew works for one thread at a time, which hires it. Called, a helper looks for parts all the
// time, for kPatience while it is hired and for kLinger after that; then it sleeps. The child of a fork
// has a crew of its own.
//
// calls_ is odd while helpers look for parts; they sleep on it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "backends/cpu/shared_loop.hpp"

namespace ebb::cpu {

class Crew {
 public:
  static constexpr int kMostHelpers = 255;
  static constexpr std::chrono::microseconds kPatience{300};
  static constexpr std::chrono::microseconds kLinger{100};

  // The process's.
  static Crew& here() noexcept;

  // False: another thread has it.
  bool hire() noexcept { return !hired_.exchange(true, std::memory_order_acquire); }
  void dismiss() noexcept { hired_.store(false, std::memory_order_release); }

  // By who has hired it, all of them.
  // Fewer helpers come where the system has no more threads: the parts are taken all the same.
  void call(int helpers) noexcept;
  // Until the next call: other threads need the cores.
  void rest() noexcept;
  // Returns when all parts have ended.
  void run(const SharedLoop::Work& work) noexcept;
  // The same for short parts, one for each thread: waits a moment for helpers to take theirs, so that
  // each thread has the same one in the next loop over the same memory, unless none came the last time.
  void run_apart(const SharedLoop::Work& work) noexcept;

 private:
  void start(int helpers) noexcept;
  [[noreturn]] void help() noexcept;
  // What is left of the loop.
  void finish() noexcept;
  // False: it has waited for long enough.
  bool wait_for_loop(std::chrono::steady_clock::time_point last) const noexcept;

  SharedLoop loop_;
  alignas(64) std::atomic<std::uint32_t> calls_{0};
  std::atomic<bool> hired_{false};
  std::atomic<int> asleep_{0};
  int started_ = 0;  // by who has hired it
};

}  // namespace ebb::cpu
