#include "memory/biased_lock.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <thread>
#include <utility>

#include "base/backoff.hpp"
#include "base/fork.hpp"

namespace ebb {

constinit thread_local BiasedLock::Place BiasedLock::thread_place = BiasedLock::kNone;

// Which places are given out, and the giving back when a thread ends.
class ThreadPlaces {
 public:
  // For the calling thread, if it has none and does not end. False: it has none.
  static bool ask() noexcept {
    if (BiasedLock::thread_place == BiasedLock::kNone && at_exit_ok()) {
      BiasedLock::thread_place = take();
    }
    return bit_of(BiasedLock::thread_place) != 0;
  }

 private:
  static BiasedLock::Place take() noexcept {
    std::uint32_t given = given_.load(std::memory_order_relaxed);
    std::uint32_t bit = 0;
    do {
      if (~given == 0) return BiasedLock::kNone;
      bit = ~given & (given + 1);  // the lowest that is free
      // Acquired: what the thread that had it before did comes first.
    } while (!given_.compare_exchange_weak(given, given | bit, std::memory_order_acquire,
                                           std::memory_order_relaxed));
    return static_cast<BiasedLock::Place>(std::countr_zero(bit));
  }
  static std::uint32_t bit_of(BiasedLock::Place place) noexcept {
    return place != BiasedLock::kNone && place < BiasedLock::kPlaces ? 1u << place : 0;
  }
  // From here on the thread has none: others of its exit functions may still take locks.
  static void give_back() noexcept {
    const BiasedLock::Place place = std::exchange(BiasedLock::thread_place, BiasedLock::kLeaving);
    given_.fetch_and(~bit_of(place), std::memory_order_release);
  }
  static void go_on_alone() noexcept {
    given_.store(kNoThreads | bit_of(BiasedLock::thread_place), std::memory_order_relaxed);
  }

  // A pthread key, as the pool's: a thread_local with a destructor allocates.
  static bool at_exit_ok() noexcept {
    return exit_key_.second && pthread_setspecific(exit_key_.first, &exit_key_) == 0;
  }

  static constexpr std::uint32_t kNoThreads = 1;  // place 0 is nobody's
  static_assert(BiasedLock::kPlaces == 32);
  static constinit inline atomic<std::uint32_t> given_{kNoThreads};
  static constinit inline ForkHook fork_{ForkRank::kTables, []() noexcept {}, []() noexcept {},
                                         go_on_alone};
  static inline const std::pair<pthread_key_t, bool> exit_key_ = [] {
    pthread_key_t made{};
    const bool ok = pthread_key_create(&made, [](void*) { give_back(); }) == 0;
    at_fork(fork_);
    return std::pair(made, ok);
  }();
};

namespace {

enum class Known : std::uint8_t { kNot, kHas, kLacks };
constinit std::atomic<Known> g_barrier{Known::kNot};

// Asked when it is first needed: the first call in a process takes milliseconds.
bool has_barrier() noexcept {
  Known known = g_barrier.load(std::memory_order_relaxed);
  if (known == Known::kNot) {
    known = process_barrier() ? Known::kHas : Known::kLacks;
    g_barrier.store(known, std::memory_order_relaxed);
  }
  return known == Known::kHas;
}

}  // namespace

void BiasedLock::allow_owners(bool allowed) noexcept {
  g_barrier.store(allowed ? Known::kNot : Known::kLacks, std::memory_order_relaxed);
}

void BiasedLock::end_ownership() noexcept {
  const Place owner = owner_.load(std::memory_order_relaxed);
  owner_.store(kNobody, std::memory_order_relaxed);
  // It was there when the thread became the owner. A program that has forbidden itself the call since
  // waits for much longer than a processor keeps a store to itself.
  if (!process_barrier()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (Backoff backoff; inside_[owner].load(std::memory_order_acquire);)
    if (!backoff.spin()) backoff.nap();
  needed_ = streak_ < kWorthIt ? std::min(4 * needed_, kLongestStreak)
                               : std::max(needed_ / 4, kFirstStreak);
}

void BiasedLock::look_at_streak() noexcept {
  const bool done = last_ == &thread_place;
  last_ = &thread_place;
  streak_ = 0;
  if (!done || !has_barrier()) return;
  if (!ThreadPlaces::ask()) return;
  // A thread that had the place before, in the parent of this process, may have been about to look.
  inside_[thread_place].store(false, std::memory_order_relaxed);
  owner_.store(thread_place, std::memory_order_relaxed);
}

}  // namespace ebb
