// A call that works in a context outside its lock: it empties closed regions, climbs, or calls the
// host. A context that is being visited is not retired, and close() waits for the visits of other
// threads, so that nothing of the context is under way and its host is left alone once it returns.
// Visits nest on a thread; inside one's own, that is in a callback of the host, close() refuses.
#pragma once

#include <mutex>

#include "tensor/context_body.hpp"

namespace ebb {

class ContextBody::Visit {
 public:
  enum class Purpose : std::uint8_t { kWork, kTellEnds };

// The destructor takes the address out again; gcc 12 does not see that.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
  Visit(ContextBody& context, Lock&, Purpose purpose = Purpose::kWork) noexcept
      : context_(context), outer_(innermost), purpose_(purpose) {
    ++context_.visits_;
    innermost = this;
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  ~Visit() {
    innermost = outer_;
    if (!left_) {
      Lock lock(context_.lock_);
      leave(lock);
    }
    if (retires_) context_.retire_if_empty();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  // Before its scope ends, where the lock is held anyway. Nothing of the context is touched after.
  void leave(Lock&) noexcept {
    --context_.visits_;
    left_ = true;
    retires_ = context_.closed();
  }
  // Those of the calling thread.
  static std::uint32_t mine_in(const ContextBody& context) noexcept {
    std::uint32_t count = 0;
    for (const Visit* visit = innermost; visit != nullptr; visit = visit->outer_) {
      count += &visit->context_ == &context && !visit->left_ ? 1 : 0;
    }
    return count;
  }
  // How deep the calling thread is inside `end` callbacks of this context.
  static std::uint32_t telling_ends_of(const ContextBody& context) noexcept {
    std::uint32_t count = 0;
    for (const Visit* visit = innermost; visit != nullptr; visit = visit->outer_) {
      count += &visit->context_ == &context && visit->purpose_ == Purpose::kTellEnds ? 1 : 0;
    }
    return count;
  }
  // Whether the calling thread is inside a visit, of whatever context.
  static bool any() noexcept { return innermost != nullptr; }

 private:
  static thread_local constinit inline Visit* innermost = nullptr;

  ContextBody& context_;
  Visit* const outer_;
  const Purpose purpose_;
  bool left_ = false;
  bool retires_ = false;
};

}  // namespace ebb
