#include "backends/cpu/shift.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "backends/cpu/crew.hpp"
#include "backends/cpu/team.hpp"

namespace ebb::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using ops::ProgramPace;

struct ThisThread {
  int programs = 0;  // that run on it
  bool is_on = false;
  bool has_crew = false;
  bool measures = false;
  int helpers = 0;
  std::uint32_t own_loops = 0, library_loops = 0, apart_loops = 0;
  Clock::time_point start;
};
thread_local ThisThread here;

constexpr auto kRelaxed = std::memory_order_relaxed;

// ---- what a run takes

// Is in force at once; one that was held up counts as a slow one. Rounded up: a small number must not stay where it is.
std::uint32_t blended(std::uint32_t before, std::uint32_t now, std::uint32_t weight) noexcept {
  if (before == 0) return now;
  const std::uint64_t most = std::uint64_t{4} * before;
  const std::uint64_t counted = std::min<std::uint64_t>(now, most);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      (std::uint64_t{before} * (weight - 1) + counted + weight - 1) / weight, UINT32_MAX));
}

bool pays(const ProgramPace& pace) noexcept {
  return pace.shared_ns.load(kRelaxed) <= (1 - Shift::kLeastGain) * pace.alone_ns.load(kRelaxed);
}

std::uint32_t runs_between(const ProgramPace& pace) noexcept {
  const double alone = pace.alone_ns.load(kRelaxed), shared = pace.shared_ns.load(kRelaxed);
  if (alone == 0 || shared == 0) return Shift::kRunsBetween;
  const double times = std::min(std::max(alone / shared, shared / alone), 1000.0);
  return static_cast<std::uint32_t>(times * Shift::kRunsBetween);
}

bool may_have_crew(const ProgramPace& pace) noexcept {
  const std::uint32_t library_loops = pace.library_loops.load(kRelaxed);
  const std::uint32_t own_loops = pace.own_loops.load(kRelaxed);
  const bool had_it = pace.shared_ns.load(kRelaxed) != 0;
  return own_loops > 0 && library_loops * Shift::kOwnForEach <= own_loops &&
         pace.alone_ns.load(kRelaxed) >= (had_it ? Shift::kLeastNs / 2 : Shift::kLeastNs);
}

// ---- which way a run is made

struct Way {
  bool shares = false, measures = true;
};

constexpr std::uint32_t kFirstRuns = Shift::kRunsAlone + Shift::kRunsShared;

void count_down(ProgramPace& pace, std::uint32_t left, std::uint32_t between) noexcept {
  pace.until_look.store((left == 0 ? between : left) - 1, kRelaxed);
}

Way next_way(ProgramPace& pace) noexcept {
  const std::uint32_t runs = pace.runs.load(kRelaxed);
  if (runs < Shift::kRunsAlone) return {};
  const std::uint32_t left = pace.until_look.load(kRelaxed);
  if (!may_have_crew(pace)) {
    // Such a look costs next to nothing, however seldom one at the other way was to be.
    count_down(pace, std::min(left, Shift::kRunsBetween), Shift::kRunsBetween);
    return {.measures = left == 0};
  }
  if (runs < kFirstRuns) return {.shares = true};
  count_down(pace, left, left == 0 ? runs_between(pace) : 0);
  // What the first of a look takes is the waking of helpers, and says nothing of those that follow one another.
  const bool looks = left < Shift::kRunsOfALook;
  return {.shares = pays(pace) != looks, .measures = !looks || left == 0};
}

void begin(ProgramPace& pace) noexcept {
  // A callback of the host's may run one inside of another: it is a part of that one.
  if (here.programs++ != 0) return;
  here.is_on = true;
  const Way way = next_way(pace);
  here.measures = way.measures;
  if (way.measures) here.start = Clock::now();
  if (!way.shares) return;
  here.helpers = Team::available() - 1;
  here.has_crew = here.helpers > 0 && Crew::here().hire();
  if (here.has_crew) Crew::here().call(here.helpers);
}

// The numbers of several threads' runs mix: each is blended into what is known, so none of them is believed for long.
void learn(ProgramPace& pace) noexcept {
  const auto took =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - here.start).count();
  const auto ns = static_cast<std::uint32_t>(std::clamp<std::int64_t>(took, 1, UINT32_MAX));
  const std::uint32_t runs = pace.runs.load(kRelaxed);
  auto& way = here.has_crew ? pace.shared_ns : pace.alone_ns;
  const std::uint32_t before = way.load(kRelaxed);
  const bool is_first = runs < (here.has_crew ? kFirstRuns : Shift::kRunsAlone);
  if (is_first) {
    way.store(before == 0 ? ns : std::min(before, ns), kRelaxed);
    pace.runs.store(runs + 1, kRelaxed);
  } else {
    // The way that is measured seldom is soon known again.
    way.store(blended(before, ns, here.has_crew == pays(pace) ? 8 : 2), kRelaxed);
  }
  if (here.has_crew) return;  // which has loops that are not worth sharing without
  pace.own_loops.store(here.own_loops, kRelaxed);
  pace.library_loops.store(here.library_loops, kRelaxed);
}

void end(ProgramPace& pace, bool completed) noexcept {
  if (--here.programs != 0) return;
  if (here.measures && completed) learn(pace);
  if (here.has_crew) Crew::here().dismiss();
  here = {};
}

void run_by(void (Crew::*run)(const SharedLoop::Work&), const SharedLoop::Work& work) noexcept {
  Crew& crew = Crew::here();
  crew.call(here.helpers);  // they may have fallen asleep
  here.has_crew = false;    // for what the parts call
  (crew.*run)(work);
  here.has_crew = true;
}

constexpr ops::ProgramHooks kHooks{begin, end};

}  // namespace

const ops::ProgramHooks& shift_hooks() noexcept { return kHooks; }

bool Shift::is_on() noexcept { return here.is_on; }
bool Shift::has_crew() noexcept { return here.has_crew; }

int Shift::threads() noexcept { return here.helpers + 1; }

void Shift::run(std::int64_t count, int parts,
                FunctionRef<void(std::int64_t, std::int64_t)> body) noexcept {
  run_by(&Crew::run, {body.function(), body.object(), count, parts});
}

void Shift::run_apart(std::int64_t count, int parts,
                      FunctionRef<void(std::int64_t, std::int64_t)> body) noexcept {
  const bool is_turned = here.apart_loops++ % 2 == 1;
  run_by(&Crew::run_apart, {body.function(), body.object(), count, parts, is_turned});
}

void Shift::count_own_loop() noexcept { ++here.own_loops; }

void Shift::begin_library_loop() noexcept {
  ++here.library_loops;
  if (here.has_crew) Crew::here().rest();
}

}  // namespace ebb::cpu
