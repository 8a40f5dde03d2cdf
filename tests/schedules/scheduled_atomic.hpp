// ebb::atomic under the scheduler: a step before each operation, and the clock of who released it.
// It is as large as what it holds: the clocks are the schedule's.
#pragma once

#include <atomic>
#include <utility>

#include "schedules/hold_watch.hpp"
#include "schedules/scheduler.hpp"

namespace ebb {

template <typename T>
class atomic {
 public:
  constexpr atomic() noexcept = default;
  constexpr atomic(T value) noexcept : value_(value) {}  // NOLINT: as std::atomic's
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    step();
    acquire(order);
    return value_;
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    step();
    if (schedules::Schedule* const run = schedules::Schedule::current()) run->released(this) = {};
    release(order);
    value_ = value;
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return change(order, [&](T) { return value; });
  }
  template <typename By>
  T fetch_add(By value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return change(order, [&](T now) { return static_cast<T>(now + value); });
  }
  template <typename By>
  T fetch_sub(By value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return change(order, [&](T now) { return static_cast<T>(now - value); });
  }
  T fetch_or(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return change(order, [&](T now) { return static_cast<T>(now | value); });
  }
  T fetch_and(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return change(order, [&](T now) { return static_cast<T>(now & value); });
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order order,
                               std::memory_order otherwise) noexcept {
    step();
    if (value_ != expected) {
      acquire(otherwise);
      expected = value_;
      return false;
    }
    acquire(order);
    release(order);
    value_ = wanted;
    return true;
  }
  bool compare_exchange_strong(T& expected, T wanted,
                               std::memory_order order = std::memory_order_seq_cst) noexcept {
    return compare_exchange_strong(expected, wanted, order, std::memory_order_acquire);
  }
  bool compare_exchange_weak(T& expected, T wanted,
                             std::memory_order order = std::memory_order_seq_cst) noexcept {
    return compare_exchange_strong(expected, wanted, order);
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order order,
                             std::memory_order otherwise) noexcept {
    return compare_exchange_strong(expected, wanted, order, otherwise);
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
  static void step() {
    if (schedules::Schedule* const run = schedules::Schedule::current()) run->step();
  }
  template <typename Changed>
  T change(std::memory_order order, Changed&& changed) noexcept {
    step();
    acquire(order);
    release(order);
    return std::exchange(value_, changed(value_));
  }
  void acquire(std::memory_order order) const noexcept {
    schedules::Schedule* const run = schedules::Schedule::current();
    if (run == nullptr || order == std::memory_order_relaxed || order == std::memory_order_release)
      return;
    schedules::join(run->clock(), run->released(this));
  }
  // A read-modify-write keeps what was released before it; a store has cleared it.
  void release(std::memory_order order) noexcept {
    schedules::Schedule* const run = schedules::Schedule::current();
    if (run == nullptr || order == std::memory_order_relaxed || order == std::memory_order_acquire)
      return;
    schedules::join(run->released(this), run->clock());
    ++run->clock()[run->here()];
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
    if (taken_) run->until([this] { return !taken_; });
    take(*run);
  }
  bool try_lock() {
    Schedule* const run = Schedule::current();
    if (run == nullptr) {
      watched(&HoldWatch::taken);
      return true;
    }
    run->step();
    if (taken_) return false;
    take(*run);
    return true;
  }
  void unlock() {
    Schedule* const run = Schedule::current();
    if (run == nullptr) return watched(&HoldWatch::given_back);
    run->released(this) = run->clock();
    ++run->clock()[run->here()];
    taken_ = false;
    run->step();
  }

 private:
  void take(Schedule& run) {
    taken_ = true;
    join(run.clock(), run.released(this));
  }
  void watched(void (HoldWatch::*what)(const void*)) {
    if (HoldWatch* const watch = HoldWatch::current()) (watch->*what)(this);
  }

  bool taken_ = false;
};

}  // namespace schedules
}  // namespace ebb
