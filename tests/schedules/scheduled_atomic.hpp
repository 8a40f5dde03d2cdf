// ebb::atomic under the scheduler: a step before each operation, and what each store passes on. It is
// as large as what it holds: the stores are the schedule's.
#pragma once

#include <atomic>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "schedules/hold_watch.hpp"
#include "schedules/scheduler.hpp"

namespace ebb {

template <typename T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  using Place = std::source_location;
  static constexpr std::memory_order kTotal = std::memory_order_seq_cst;

 public:
  constexpr atomic() noexcept = default;
  constexpr atomic(T value) noexcept : value_(value) {}  // NOLINT: as std::atomic's
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order order = kTotal, Place at = Place::current()) const noexcept {
    schedules::Schedule* const run = begin();
    const T now = get();
    return run == nullptr ? now : value_of(run->load(this, bits_of(now), order, at));
  }
  void store(T value, std::memory_order order = kTotal, Place at = Place::current()) noexcept {
    schedules::Schedule* const run = begin();
    if (run != nullptr) run->store(this, bits_of(get()), bits_of(value), order, at);
    set(value);
  }
  T exchange(T value, std::memory_order order = kTotal, Place at = Place::current()) noexcept {
    return change(order, at, [&](T) { return value; });
  }
  template <typename By>
  T fetch_add(By value, std::memory_order order = kTotal, Place at = Place::current()) noexcept {
    return change(order, at, [&](T now) { return static_cast<T>(now + value); });
  }
  template <typename By>
  T fetch_sub(By value, std::memory_order order = kTotal, Place at = Place::current()) noexcept {
    return change(order, at, [&](T now) { return static_cast<T>(now - value); });
  }
  T fetch_or(T value, std::memory_order order = kTotal, Place at = Place::current()) noexcept {
    return change(order, at, [&](T now) { return static_cast<T>(now | value); });
  }
  T fetch_and(T value, std::memory_order order = kTotal, Place at = Place::current()) noexcept {
    return change(order, at, [&](T now) { return static_cast<T>(now & value); });
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order order,
                               std::memory_order otherwise, Place at = Place::current()) noexcept {
    schedules::Schedule* const run = begin();
    const T now = get();
    const bool same = now == expected;
    if (run != nullptr && same) run->exchange(this, bits_of(now), bits_of(wanted), order, at);
    if (run != nullptr && !same) run->look(this, bits_of(now), otherwise, at);
    if (same) set(wanted);
    expected = now;
    return same;
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order order = kTotal,
                               Place at = Place::current()) noexcept {
    return compare_exchange_strong(expected, wanted, order, std::memory_order_acquire, at);
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order order = kTotal,
                             Place at = Place::current()) noexcept {
    return compare_exchange_strong(expected, wanted, order, at);
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order order,
                             std::memory_order otherwise, Place at = Place::current()) noexcept {
    return compare_exchange_strong(expected, wanted, order, otherwise, at);
  }

  operator T() const noexcept { return load(); }  // NOLINT: as std::atomic's
  T operator=(T value) noexcept {                 // NOLINT: likewise
    store(value);
    return value;
  }
  T operator++() noexcept { return static_cast<T>(fetch_add(1) + 1); }
  T operator++(int) noexcept { return fetch_add(1); }
  T operator+=(T value) noexcept { return static_cast<T>(fetch_add(value) + value); }

 private:
  // The schedule that the calling thread takes turns in, after a step of it.
  static schedules::Schedule* begin() {
    schedules::Schedule* const run = schedules::Schedule::current();
    if (run == nullptr || !run->is_under_way()) return nullptr;
    run->step();
    return run;
  }
  // As atomic operations, so that the watch on memory takes them for what they are.
  T get() const noexcept {
    T value;
    __atomic_load(&value_, &value, __ATOMIC_RELAXED);
    return value;
  }
  void set(T value) noexcept { __atomic_store(&value_, &value, __ATOMIC_RELAXED); }
  static std::uint64_t bits_of(T value) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const void*>(&value), sizeof(T));
    return bits;
  }
  static T value_of(std::uint64_t bits) noexcept {
    T value;
    std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
    return value;
  }

  template <typename Changed>
  T change(std::memory_order order, Place at, Changed&& changed) noexcept {
    schedules::Schedule* const run = begin();
    const T before = get(), after = changed(before);
    if (run != nullptr) run->exchange(this, bits_of(before), bits_of(after), order, at);
    set(after);
    return before;
  }

  T value_{};
};

namespace schedules {

// Memory that is not atomic: who reads or writes it must come after who wrote it, by the clocks.
template <typename T>
class Plain {
 public:
  T get() const {
    check();
    return value_;
  }
  void set(T value) {
    check();
    value_ = value;
    if (const Schedule* const run = Schedule::current()) {
      writer_ = run->here();
      written_ = Schedule::current()->clock()[writer_];
    }
  }

 private:
  void check() const {
    Schedule* const run = Schedule::current();
    if (run == nullptr || written_ == 0 || writer_ == run->here()) return;
    run->expect(run->clock()[writer_] >= written_, "memory is used before it was passed on");
  }

  T value_{};
  std::size_t writer_ = 0;
  std::uint32_t written_ = 0;
};

// A lock whose waiters do not take turns.
class Lock {
 public:
  constexpr Lock() noexcept = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void lock() {
    Schedule* const run = Schedule::current();
    if (run == nullptr) return watched(&HoldWatch::taken);
    run->step();
    if (is_taken()) run->until([this] { return !is_taken(); });
    take(*run);
  }
  bool try_lock() {
    Schedule* const run = Schedule::current();
    if (run == nullptr) {
      watched(&HoldWatch::taken);
      return true;
    }
    run->step();
    if (is_taken()) return false;
    take(*run);
    return true;
  }
  void unlock() {
    Schedule* const run = Schedule::current();
    if (run == nullptr) return watched(&HoldWatch::given_back);
    run->gives_back(this);
    set_taken(false);
    run->step();
  }

 private:
  bool is_taken() const noexcept { return __atomic_load_n(&taken_, __ATOMIC_RELAXED); }
  void set_taken(bool taken) noexcept { __atomic_store_n(&taken_, taken, __ATOMIC_RELAXED); }
  void take(Schedule& run) {
    set_taken(true);
    run.takes(this);
  }
  void watched(void (HoldWatch::*what)(const void*)) {
    if (HoldWatch* const watch = HoldWatch::current()) (watch->*what)(this);
  }

  bool taken_ = false;
};

}  // namespace schedules
}  // namespace ebb
