// What a call costs its thread, whoever else uses the machine.
#pragma once

#include <ctime>

namespace ebb::test {

// The processor time of this thread since it was made.
class CpuTime {
 public:
  double ms() const { return now_ms() - from_; }

 private:
  static double now_ms() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
  }

  double from_ = now_ms();
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__) || \
    defined(EBB_RUNS_EMULATED)
inline constexpr bool kSlowBuild = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSlowBuild = true;
#else
inline constexpr bool kSlowBuild = false;
#endif
#else
inline constexpr bool kSlowBuild = false;
#endif

// What a call may take whose operands and results are below kSmallBytes together.
inline constexpr double kMostMsOfASmallCall = kSlowBuild ? 1000 : 100;
inline constexpr unsigned long long kSmallBytes = 1 << 20;

}  // namespace ebb::test
