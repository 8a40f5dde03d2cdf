#include "backends/cpu/shift.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "backends/cpu/crew.hpp"
#include "backends/cpu/team.hpp"
#include "backends/cpu/wake.hpp"

namespace ebb::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using ops::ProgramPace;

struct ThisThread {
  bool is_on = false;
  bool has_crew = false;
  bool measures = false;
  int helpers = 0;
  std::uint32_t own_loops = 0, library_loops = 0;
  Clock::time_point start;
};
thread_local ThisThread here;

struct Loop {
  std::int64_t count;
  const FunctionRef<void(std::int64_t, std::int64_t)>& body;
};

void run_part(void* data, int index, int parts) {
  const Loop& loop = *static_cast<const Loop*>(data);
  const std::int64_t begin = loop.count * index / parts;
  const std::int64_t end = loop.count * (index + 1) / parts;
  if (begin < end) loop.body(begin, end);
}

bool takes_long_enough(std::uint32_t us) noexcept {
  return us >= Shift::kLeastMicroseconds &&
         us >= Shift::kLeastWakes * std::min(wake_microseconds(), Shift::kMostWake);
}

bool is_worth_calling(const ProgramPace& pace) noexcept {
  const std::uint32_t library_loops = pace.library_loops.load(std::memory_order_relaxed);
  const std::uint32_t own_loops = pace.own_loops.load(std::memory_order_relaxed);
  return own_loops > 0 && library_loops * Shift::kOwnForEach <= own_loops &&
         takes_long_enough(pace.least_us.load(std::memory_order_relaxed));
}

void begin(ProgramPace& pace) noexcept {
  if (here.is_on) return;  // a program inside a program: there is none
  here.is_on = true;
  if (pace.runs.load(std::memory_order_relaxed) < Shift::kRunsAlone) {
    here.measures = true;
    here.start = Clock::now();
    return;
  }
  if (!is_worth_calling(pace)) return;
  here.helpers = Team::available() - 1;
  here.has_crew = here.helpers > 0 && Crew::here().hire();
  if (here.has_crew) Crew::here().call(here.helpers);
}

void learn(ProgramPace& pace) noexcept {
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - here.start).count();
  const auto us = static_cast<std::uint32_t>(
      std::min<std::int64_t>(took, std::numeric_limits<std::uint32_t>::max() - 1));
  std::uint32_t least = pace.least_us.load(std::memory_order_relaxed);
  while (us < least && !pace.least_us.compare_exchange_weak(least, us, std::memory_order_relaxed)) {
  }
  pace.own_loops.store(here.own_loops, std::memory_order_relaxed);
  pace.library_loops.store(here.library_loops, std::memory_order_relaxed);
  pace.runs.fetch_add(1, std::memory_order_relaxed);
}

void end(ProgramPace& pace, bool completed) noexcept {
  if (here.measures && completed) learn(pace);
  if (here.has_crew) Crew::here().dismiss();
  here = {};
}

constexpr ops::ProgramHooks kHooks{begin, end};

}  // namespace

const ops::ProgramHooks& shift_hooks() noexcept { return kHooks; }

bool Shift::is_on() noexcept { return here.is_on; }
bool Shift::has_crew() noexcept { return here.has_crew; }

void Shift::run(std::int64_t count, int parts,
                FunctionRef<void(std::int64_t, std::int64_t)> body) noexcept {
  Loop loop{count, body};
  Crew& crew = Crew::here();
  crew.call(here.helpers);  // they may have fallen asleep
  here.has_crew = false;    // for what the parts call
  crew.run(parts, run_part, &loop);
  here.has_crew = true;
}

void Shift::count_own_loop() noexcept { ++here.own_loops; }

void Shift::begin_library_loop() noexcept {
  ++here.library_loops;
  if (here.has_crew) Crew::here().rest();
}

}  // namespace ebb::cpu
