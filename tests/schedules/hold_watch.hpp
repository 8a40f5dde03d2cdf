// For how long locks are held, outside of a schedule, on one thread: in its processor time, so that
// other programs on the machine do not count. Nothing waits for anybody then; what is measured is
// what others would have waited for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <vector>

namespace ebb::schedules {

class HoldWatch {
 public:
  HoldWatch() noexcept { current_ = this; }
  ~HoldWatch() { current_ = nullptr; }
  HoldWatch(const HoldWatch&) = delete;
  HoldWatch& operator=(const HoldWatch&) = delete;

  static HoldWatch* current() noexcept { return current_; }

  void taken(const void* lock) { held_.push_back({lock, now_ns()}); }
  void given_back(const void* lock) {
    const auto held = std::ranges::find(held_, lock, &Held::lock);
    if (held == held_.end()) return;  // taken before the watch was there
    longest_ns_ = std::max(longest_ns_, now_ns() - held->since);
    held_.erase(held);
    ++holds_;
  }
  double longest_ms() const noexcept { return static_cast<double>(longest_ns_) * 1e-6; }
  std::uint64_t holds() const noexcept { return holds_; }

 private:
  struct Held {
    const void* lock;
    std::int64_t since;
  };
  static std::int64_t now_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
  }

  static inline thread_local HoldWatch* current_ = nullptr;
  std::vector<Held> held_;
  std::int64_t longest_ns_ = 0;
  std::uint64_t holds_ = 0;
};

}  // namespace ebb::schedules
