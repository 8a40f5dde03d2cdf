// A call to the host, without the lock. While one is under way the context does not end, so host,
// governor and ladder stay what they are: Context::close waits for the calls of other threads, and
// refuses inside one of its own.
#pragma once

#include <mutex>

#include "ebb/tensor/context.hpp"

namespace ebb {

class Context::HostCall {
 public:
  // Pre: under the context's lock.
  explicit HostCall(Context& context) noexcept : context_(context), outer_(innermost) {
    ++context_.host_calls_;
    innermost = this;
  }
  ~HostCall() {
    innermost = outer_;
    std::lock_guard guard(context_.lock_);
    --context_.host_calls_;
  }
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

  Host* host() const noexcept { return context_.host_; }

  // Whether this thread is inside a call to that context's host.
  static bool inside(const Context& context) noexcept {
    for (const HostCall* call = innermost; call != nullptr; call = call->outer_) {
      if (&call->context_ == &context) return true;
    }
    return false;
  }

 private:
  static constinit thread_local HostCall* innermost;

  Context& context_;
  HostCall* outer_;
};

}  // namespace ebb
