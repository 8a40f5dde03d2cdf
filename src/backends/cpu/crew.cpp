#include "backends/cpu/crew.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <thread>

#include "base/backoff.hpp"
#include "base/fork.hpp"

namespace ebb::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLooksBetweenClocks = 32;

// Never destroyed: its threads wait until the process ends.
constinit Crew crew;

const bool hook_is_set = [] {
  static constinit ForkHook hook{ForkRank::kWorkers, []() noexcept {}, []() noexcept {},
                                 []() noexcept { new (&crew) Crew; }};
  at_fork(hook);
  return true;
}();

}  // namespace

Crew& Crew::here() noexcept { return crew; }

void Crew::start(int helpers) noexcept {
  helpers = std::min(helpers, kMostHelpers);
  try {
    for (; started_ < helpers; ++started_) std::thread([this] { help(); }).detach();
  } catch (const std::exception&) {
  }
}

void Crew::call(int helpers) noexcept {
  start(helpers);
  const std::uint32_t calls = calls_.load(std::memory_order_relaxed);
  if (calls % 2 == 1 && asleep_.load(std::memory_order_relaxed) == 0) return;
  calls_.store(calls + (calls % 2 == 1 ? 2 : 1), std::memory_order_release);
  calls_.notify_all();
}

void Crew::rest() noexcept {
  const std::uint32_t calls = calls_.load(std::memory_order_relaxed);
  if (calls % 2 == 1) calls_.store(calls + 1, std::memory_order_release);
}

void Crew::finish() noexcept {
  while (loop_.take()) {
  }
  // A helper that runs is about to end; one that does not needs this core, perhaps.
  constexpr int kLooks = 2000;
  for (int i = 0; i < kLooks && !loop_.has_ended(); ++i) Backoff::pause();
  for (Backoff backoff; !loop_.has_ended();)
    if (!backoff.spin()) backoff.nap();
}

void Crew::run(const SharedLoop::Work& work) noexcept {
  loop_.begin(work);
  finish();
}

void Crew::run_apart(const SharedLoop::Work& work) noexcept {
  // Longer than a helper that looks takes to see them.
  constexpr int kLooks = 30;
  const int looks = loop_.others() > 0 ? kLooks : 0;  // with the one before
  loop_.begin(work);
  for (int i = 0; i < looks && loop_.has_parts(); ++i) Backoff::pause();
  finish();
}

bool Crew::wait_for_loop(Clock::time_point last) const noexcept {
  for (int i = 0; i < kLooksBetweenClocks; ++i) {
    if (loop_.has_parts()) return true;
    Backoff::pause();
  }
  const auto limit = hired_.load(std::memory_order_relaxed) ? kPatience : kLinger;
  return Clock::now() - last < limit;
}

void Crew::help() noexcept {
  for (;;) {
    const std::uint32_t calls = calls_.load(std::memory_order_acquire);
    bool looks = calls % 2 == 1;
    for (Clock::time_point last = Clock::now(); looks;) {
      if (loop_.help()) {
        last = Clock::now();
      } else {
        looks = wait_for_loop(last) && calls_.load(std::memory_order_relaxed) % 2 == 1;
      }
    }
    asleep_.fetch_add(1, std::memory_order_relaxed);
    calls_.wait(calls, std::memory_order_acquire);
    asleep_.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace ebb::cpu
