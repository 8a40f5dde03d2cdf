// Parallel parts of kernels: a loop shared by the team.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ebb::cpu {

// A callable that is called before the function it was given to returns.
template <typename Signature>
class FunctionRef;

template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>) FunctionRef(F&& f)
  noexcept  // NOLINT: a conversion is what it is for
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(args...);
        }) {}
  R operator()(Args... args) const { return call_(object_, args...); }

  // Called with the object first, it does the same.
  using Function = R (*)(void*, Args...);
  Function function() const noexcept { return call_; }
  void* object() const noexcept { return object_; }

 private:
  void* object_;
  Function call_;
};

// Calls body(begin, end) for parts of [0, count) that together are all of it, each at least `grain`
// long where count allows; an eighth of that where the crew helps (shift.hpp). With a count no more than that: once,
// on the calling thread; where the team takes long to wake on this machine, with some times as many
// elements too. What has to be whole, whoever helps, is no loop: its caller calls the body. The body must not throw and must
// not allocate tensors.
void parallel_for(std::int64_t count, std::int64_t grain,
                  FunctionRef<void(std::int64_t, std::int64_t)> body);

// The same for a loop of a few hundred nanoseconds over memory that a recorded program reads in each of its runs: where the
// crew helps, each thread has one part of at least `grain`, the same in each run, so that it stays in the cache of its core.
// On the calling thread otherwise.
void parallel_apart(std::int64_t count, std::int64_t grain,
                    FunctionRef<void(std::int64_t, std::int64_t)> body);

// How many threads a large loop is shared by.
int team_size() noexcept;

}  // namespace ebb::cpu
