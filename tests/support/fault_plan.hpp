// Which call of a host's interface (Node-API, JNI) fails, for the builds of addon and JNI library whose
// calls may.
#pragma once

#include <cstdint>

namespace ebb::test {

// This thread's.
struct FaultPlan {
  std::uint64_t at = 0;  // 0: none fails
  bool and_later = false;
  std::uint64_t calls = 0, failed = 0;

  // To be asked once in each call.
  bool fails() noexcept {
    if (at == 0) return false;
    ++calls;
    const bool now = and_later ? calls >= at : calls == at;
    failed += now ? 1 : 0;
    return now;
  }
};

}  // namespace ebb::test
