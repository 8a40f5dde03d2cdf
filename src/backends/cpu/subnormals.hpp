// Numbers below the smallest normal float as zero, for a while.
//
// Intel's processors take over a hundred cycles for a product or a quotient of them. What an optimizer
// keeps decays into them and stays there (0.9 times the least of them is rounded to itself), so steps
// that come later would take six times as long as the first.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace ebb::cpu {

// While it lives, this thread's arithmetic takes subnormal numbers as zero, and gives zero for them.
class SubnormalsAsZero {
 public:
  SubnormalsAsZero() noexcept : before_(get()) { set(before_ | kBits); }
  ~SubnormalsAsZero() { set(before_); }
  SubnormalsAsZero(const SubnormalsAsZero&) = delete;
  SubnormalsAsZero& operator=(const SubnormalsAsZero&) = delete;

 private:
#if defined(__SSE2__)
  using Word = unsigned;
  static constexpr Word kBits = 0x8040;  // results, and operands
  static Word get() noexcept { return _mm_getcsr(); }
  static void set(Word word) noexcept { _mm_setcsr(word); }
#elif defined(__aarch64__)
  using Word = std::uint64_t;
  static constexpr Word kBits = Word{1} << 24;  // both
  static Word get() noexcept {
    Word word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set(Word word) noexcept { asm volatile("msr fpcr, %0" : : "r"(word)); }
#else
  using Word = unsigned;
  static constexpr Word kBits = 0;
  static Word get() noexcept { return 0; }
  static void set(Word) noexcept {}
#endif

  const Word before_;
};

}  // namespace ebb::cpu
