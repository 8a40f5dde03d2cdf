// Three tiers of assertion.
//
//   EBB_CHECK        always on: a broken invariant that would corrupt memory or books. Aborts.
//   EBB_ASSERT       debug builds: preconditions on hot paths.
//   EBB_ASSERT_SLOW  builds with EBB_EXPENSIVE_CHECKS: whole-structure walks.
//
// A user's mistake is not an assertion: it is an ebb::Error.
#pragma once

namespace ebb::detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;
}

#define EBB_CHECK(condition)              \
  (static_cast<bool>(condition) ? void(0) \
                                : ::ebb::detail::check_failed(#condition, __FILE__, __LINE__))

#ifndef NDEBUG
#define EBB_ASSERT(condition) EBB_CHECK(condition)
#else
#define EBB_ASSERT(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#endif

#ifdef EBB_EXPENSIVE_CHECKS
#define EBB_ASSERT_SLOW(condition) EBB_CHECK(condition)
#else
#define EBB_ASSERT_SLOW(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#endif
