// The run of a recorded program, for the loops of its thread: what comes is known, so the crew is called
// when the run begins and wakes while its first steps are made. Its loops are cut finer then than those
// of single operations, which have to be worth waking somebody.
//
// Whether that is worth it is measured. The first kRunsAlone runs of a program are made without the crew, the next kRunsShared
// with it; from then on the way that takes less, and now and then the other one, so seldom that it is less than 2% of the
// time: where other programs want the cores, or runs come so seldom that helpers sleep in between, what was better is not any more.
// Programs of few microseconds have no crew, nor have those with many loops of oneDNN's: these have
// threads of their own, and two teams that take turns would wait for each other's threads to sleep. They too are looked at
// now and then: what was short on an idle machine may take long on a busy one.
#pragma once

#include <cstdint>

#include "backends/cpu/parallel.hpp"
#include "ops/program_scope.hpp"

namespace ebb::cpu {

class Shift {
 public:
  static constexpr std::uint32_t kRunsAlone = 8, kRunsShared = 8;
  // Half of it where it has been measured with the crew: a program at the border does not go to and fro.
  static constexpr std::uint32_t kLeastNs = 40'000;
  // The crew is for this thread alone and keeps other cores busy: a run has to take so much less with it.
  static constexpr double kLeastGain = 0.05;
  // So many runs, times what the other way takes of the better one's time, are made from one look at the other to the next.
  static constexpr std::uint32_t kRunsBetween = 128;
  static constexpr std::uint32_t kRunsOfALook = 2;  // of which the last is measured
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
  // The same, one part for each thread (Crew::run_apart).
  static void run_apart(std::int64_t count, int parts,
                        FunctionRef<void(std::int64_t, std::int64_t)> body) noexcept;
  static int threads() noexcept;  // Pre: has_crew()

  // A loop that is worth more than one thread was met; oneDNN's: it begins now, and needs the cores.
  static void count_own_loop() noexcept;
  static void begin_library_loop() noexcept;
};

const ops::ProgramHooks& shift_hooks() noexcept;

}  // namespace ebb::cpu
