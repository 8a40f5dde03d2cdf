// ebb::atomic under the scheduler: a step before each operation, and the clock of who released it.
#pragma once

#include <atomic>
#include <utility>

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
    released_ = {};
    release(order);
    value_ = value;
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    step();
    acquire(order);
    release(order);
    return std::exchange(value_, value);
  }
  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    step();
    acquire(order);
    release(order);
    return std::exchange(value_, static_cast<T>(value_ + value));
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

 private:
  static void step() {
    if (schedules::Schedule* const run = schedules::Schedule::current()) run->step();
  }
  void acquire(std::memory_order order) const noexcept {
    schedules::Schedule* const run = schedules::Schedule::current();
    if (run == nullptr || order == std::memory_order_relaxed || order == std::memory_order_release)
      return;
    schedules::join(run->clock(), released_);
  }
  // A read-modify-write keeps what was released before it; a store has cleared it.
  void release(std::memory_order order) noexcept {
    schedules::Schedule* const run = schedules::Schedule::current();
    if (run == nullptr || order == std::memory_order_relaxed || order == std::memory_order_acquire)
      return;
    schedules::join(released_, run->clock());
    ++run->clock()[run->here()];
  }

  T value_{};
  schedules::Clock released_{};
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
  void lock() {
    Schedule* const run = Schedule::current();
    if (run == nullptr) return;
    run->step();
    if (taken_) run->until([this] { return !taken_; });
    taken_ = true;
    join(run->clock(), released_);
  }
  void unlock() {
    Schedule* const run = Schedule::current();
    if (run == nullptr) return;
    released_ = run->clock();
    ++run->clock()[run->here()];
    taken_ = false;
    run->step();
  }

 private:
  bool taken_ = false;
  Clock released_{};
};

}  // namespace schedules
}  // namespace ebb
