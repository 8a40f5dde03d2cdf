// Where exceptions end. Every function of ebb.h is one `guarded` body.
#pragma once

#include <limits>
#include <span>
#include <utility>

#include "ebb.h"
#include "ebb/base/error.hpp"

namespace ebb::capi {

// Inside a handler: keeps the message of the exception under way for this thread and returns its
// status. Never throws, also where there is no memory for the message.
[[gnu::cold, gnu::noinline]] ebb_status failed() noexcept;
const char* last_error() noexcept;

template <typename Body>
ebb_status guarded(Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return EBB_OK;
  } catch (...) {
    return failed();
  }
}

template <typename T>
T& needed(T* pointer, const char* what) {
  if (pointer == nullptr) [[unlikely]] {
    raise(ErrorKind::kInvalidArgument, "[{}] null was given, one is needed", what);
  }
  return *pointer;
}

// What a caller lists. A count that no memory could hold is refused before any of it is read.
template <typename T>
std::span<T> listed(T* first, std::size_t count, const char* what) {
  if (count == 0) return {};
  needed(first, what);
  constexpr std::size_t kMost = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T);
  if (count > kMost) [[unlikely]] {
    raise(ErrorKind::kInvalidArgument, "[{}] {} were given, at most {} are allowed", what, count,
          kMost);
  }
  return {first, count};
}

}  // namespace ebb::capi
