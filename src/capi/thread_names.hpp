// Names of what belongs to the thread that made it: tapes, recorded programs. Another thread's is
// unknown here, and so is everything once the thread has ended: a program's own thread-local objects
// may call Ebb after that.
//
// What a call works on is shared with it, so that a callback inside the call may end the name.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>

#include "ebb/base/error.hpp"

namespace ebb::capi {

template <typename T>
class ThreadNames {
 public:
  // A name that no other ever has. Throws Error(kWrongState) where the thread has ended.
  static std::uint64_t add(std::shared_ptr<T> made, const char* who) {
    if (ended_) raise(ErrorKind::kWrongState, "[{}] this thread has ended", who);
    thread_local Lease lease;
    here_ = &lease.all;
    const std::uint64_t name = ++last_;
    lease.all.emplace(name, std::move(made));
    return name;
  }
  // Null where it has ended, is another thread's, or never was.
  static std::shared_ptr<T> find(std::uint64_t name) {
    if (here_ == nullptr) return nullptr;
    const auto found = here_->find(name);
    return found == here_->end() ? nullptr : found->second;
  }
  static void remove(std::uint64_t name) noexcept {
    if (here_ != nullptr) here_->erase(name);
  }

 private:
  using Map = std::unordered_map<std::uint64_t, std::shared_ptr<T>>;
  struct Lease {
    ~Lease() {
      here_ = nullptr;
      ended_ = true;
    }
    Map all;
  };

  static inline std::atomic<std::uint64_t> last_{0};
  static inline constinit thread_local Map* here_ = nullptr;
  static inline constinit thread_local bool ended_ = false;
};

}  // namespace ebb::capi
