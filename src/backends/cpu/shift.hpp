// The run of a recorded program, for the loops of its thread: what comes is known, so the crew is called
// when the run begins and wakes while its first steps are made. Its loops are cut finer then than those
// of single operations, which have to be worth waking somebody.
//
// The first kRunsAlone runs of a program are made without, and measured. The crew is called where these
// took some times as long as it takes to wake, and where few of their loops are oneDNN's: those have
// threads of their own, and two teams that take turns would wait for each other's threads to sleep.
#pragma once

#include <cstdint>

#include "backends/cpu/parallel.hpp"
#include "ops/program_scope.hpp"

namespace ebb::cpu {

class Shift {
 public:
  static constexpr std::uint32_t kRunsAlone = 8;
  // A run of fewer microseconds than this is never worth it; a longer one is where it takes kLeastWakes times as long
  // as the team takes to wake on this machine, but at most kMostWake.
  static constexpr std::uint32_t kLeastMicroseconds = 40;
  static constexpr double kLeastWakes = 2, kMostWake = 50;
  // Of oneDNN's loops there must be one in so many at most.
  static constexpr std::uint32_t kOwnForEach = 4;
  // A part of a loop may be so many times smaller than one that somebody would be woken for.
  static constexpr std::int64_t kFiner = 8;
  static constexpr std::int64_t kPartsForEach = 4;  // thread

  // A program that may share runs on this thread. Kernels whose results depend on it to the last bit
  // ask for this, never for has_crew().
  static bool is_on() noexcept;
  // The crew works for this thread.
  static bool has_crew() noexcept;
  // Pre: has_crew(), parts > 1. Calls body(begin, end) for parts of [0, count).
  static void run(std::int64_t count, int parts,
                  FunctionRef<void(std::int64_t, std::int64_t)> body) noexcept;

  // A loop that is worth more than one thread was met; oneDNN's: it begins now, and needs the cores.
  static void count_own_loop() noexcept;
  static void begin_library_loop() noexcept;
};

const ops::ProgramHooks& shift_hooks() noexcept;

}  // namespace ebb::cpu
