// Functions that remember what they did.
//
//   Variable w(ops::random_normal({784, 10}));
//   auto step = record([&](const Tensor& x) {
//     Tensor y = ops::batch_mat_mul(x, w);
//     w.assign(w.value() * 0.99);
//     return y;
//   });
//   Tensor y = step(x);   // runs and is recorded
//   y = step(x);          // the same operations in one call
//
//   step.info().replayed; // 1
//
// The first call with given dtypes and shapes runs the function; later ones run what it did: C++
// code in it is not run again, and it must not look at values that may be others then. Results are new tensors.
// Variables that it uses or assigns to are followed: a call goes by the values that they have then. Where one of them has
// ended or moved, or has another shape, the function is recorded anew. Not recorded are calls in which it makes variables that
// outlive the call, gives one another shape, or uses one of another context, or whose value it has used as a tensor before. Other
// tensors that it uses are held, as they are, as long as the function lives, values of variables that were taken before the
// call among them.
//
// One thread calls it at a time. Whatever throws in a later call leaves everything as it was. Variables may be named as
// well, which then outlive the function: one whose memory another named one or an input has, too, gets its own, dense, when
// the function is recorded, for tapes that go by memory (TapeOptions::copies). Nothing else is written to but what the
// function assigns to, so threads may share variables that they read.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ebb/grad/variable.hpp"
#include "ebb/ops/session.hpp"
#include "ebb/program/program.hpp"

namespace ebb {

// Nearly all calls should be replayed.
struct RecordedInfo {
  std::uint64_t calls = 0;
  std::uint64_t replayed = 0;  // by one call each
  // Once for each combination of dtypes and shapes, unless it was dropped: ProgramOptions::cache, a variable's end.
  std::uint64_t recorded = 0;
  std::size_t programs = 0;    // that it has now
  std::size_t operations = 0;  // of all of them
};

namespace detail {

class Recorded {
 public:
  using Function = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

  Recorded(const std::vector<Variable*>& named, ProgramOptions options);

  // In the current session. `function` is called where nothing that is recorded fits.
  std::vector<Tensor> operator()(std::span<const Tensor> inputs, const Function& function);
  RecordedInfo info() const noexcept;

 private:
  using Variables = std::vector<std::shared_ptr<VariablePlace>>;

  struct Run {
    ContextId context;
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
    Program program;
    Variables variables;                 // the named ones, then others that the function used
    std::vector<std::uint64_t> changes;  // of these, when it was recorded
    Variables assigned;
  };

  void check_named() const;
  static bool has_other_variables(const Run& run) noexcept;
  bool fits(const Run& run, std::span<const Tensor> inputs) const;
  std::vector<Tensor> first(std::span<const Tensor> inputs, const Function& function);
  std::vector<Tensor> note(std::span<const Tensor> inputs, const Function& function);
  std::vector<Tensor> again(const Run& run, std::span<const Tensor> inputs) const;

  Variables named_;
  ProgramOptions options_;
  std::vector<Run> runs_;
  RecordedInfo counts_;
};

}  // namespace detail

// What record() returns. Copies are the same function: they share what is recorded, and its counts.
template <typename Fn>
class RecordedFunction {
 public:
  RecordedFunction(Fn fn, const std::vector<Variable*>& variables, const ProgramOptions& options)
      : body_(std::make_shared<Body>(Body{std::move(fn), detail::Recorded(variables, options)})) {}

  template <std::convertible_to<const Tensor&>... Arguments>
  auto operator()(const Arguments&... arguments) const {
    using Result = decltype(body_->fn(static_cast<const Tensor&>(arguments)...));
    const std::array<Tensor, sizeof...(arguments)> inputs{static_cast<const Tensor&>(arguments)...};
    const std::shared_ptr<Body> body = body_;  // the function may replace or end this one
    const auto function = [&fn = body->fn](std::span<const Tensor> given) {
      return called<Result>(fn, given, std::make_index_sequence<sizeof...(Arguments)>());
    };
    std::vector<Tensor> made = body->recorded(inputs, std::cref(function));
    if constexpr (std::is_same_v<Result, Tensor>) {
      return std::move(made[0]);
    } else {
      return made;
    }
  }

  RecordedInfo info() const noexcept { return body_->recorded.info(); }

 private:
  struct Body {
    Fn fn;
    detail::Recorded recorded;
  };

  template <typename Result, std::size_t... kAt>
  static std::vector<Tensor> called(Fn& fn, std::span<const Tensor> given,
                                    std::index_sequence<kAt...>) {
    if constexpr (std::is_same_v<Result, Tensor>) {
      std::vector<Tensor> made;
      made.push_back(fn(given[kAt]...));
      return made;
    } else {
      return fn(given[kAt]...);
    }
  }

  std::shared_ptr<Body> body_;
};

// fn(const Tensor&...) -> Tensor, or std::vector<Tensor>, becomes a function of the same arguments.
template <typename Fn>
RecordedFunction<Fn> record(Fn fn, const std::vector<Variable*>& variables = {},
                            ProgramOptions options = {}) {
  return {std::move(fn), variables, options};
}

}  // namespace ebb
