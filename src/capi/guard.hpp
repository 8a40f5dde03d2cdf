// Where exceptions end. Every function of ebb.h is one `guarded` body.
#pragma once

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

}  // namespace ebb::capi
