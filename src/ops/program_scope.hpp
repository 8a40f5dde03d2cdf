// The run of a recorded program, as the kernels of its device see it: they know that more calls follow,
// and may remember from one run to the next what the last ones were like.
#pragma once

#include <atomic>
#include <cstdint>

#include "ebb/memory/device.hpp"

namespace ebb::ops {

// What a device's kernels have learned of a program. Runs may be on several threads at once: a number that is lost by that
// is noted again soon.
struct ProgramPace {
  std::atomic<std::uint32_t> runs{0};                    // the first ones, of each way
  std::atomic<std::uint32_t> alone_ns{0}, shared_ns{0};  // what a run takes; 0: none was made
  std::atomic<std::uint32_t> until_look{0};  // runs, until what was decided is looked at again
  std::atomic<std::uint32_t> own_loops{0}, library_loops{0};  // of one, large enough to be shared
};

struct ProgramHooks {
  void (*begin)(ProgramPace&) noexcept;
  void (*end)(ProgramPace&, bool completed) noexcept;
};

// While it lives, a program runs on this thread.
class [[nodiscard]] ProgramScope {
 public:
  // `pace` null: the kernels are not told.
  ProgramScope(const Device& device, ProgramPace* pace) noexcept;
  ~ProgramScope();
  ProgramScope(const ProgramScope&) = delete;
  ProgramScope& operator=(const ProgramScope&) = delete;

  // Nothing has thrown.
  void complete() noexcept { completed_ = true; }

 private:
  const ProgramHooks* hooks_ = nullptr;
  ProgramPace* pace_;
  bool completed_ = false;
};

}  // namespace ebb::ops
