// Three tiers of assertion.
//
//   EBB_CHECK        always on: a broken invariant that would corrupt memory or books. Aborts.
//   EBB_ASSERT       debug builds: preconditions on hot paths.
//   EBB_ASSERT_SLOW  builds with EBB_EXPENSIVE_CHECKS: whole structures gone over.
//
// A user's mistake is not an assertion: it is an ebb::Error.
#pragma once

namespace ebb::detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;
}

// Without folders, so that a library does not say where it was built: the same bytes anywhere.
#ifdef __FILE_NAME__
#define EBB_FILE_NAME __FILE_NAME__
#else
#define EBB_FILE_NAME __FILE__
#endif

#define EBB_CHECK(condition)    \
  (static_cast<bool>(condition) \
       ? void(0)                \
       : ::ebb::detail::check_failed(#condition, EBB_FILE_NAME, __LINE__))

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
