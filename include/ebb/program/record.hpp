// Functions that remember what they did.
//
//   Variable w(ops::random_normal({784, 10}));
//   auto step = record([&](const Tensor& x) {
//     Tensor y = ops::batch_mat_mul(x, w);
//     w.assign(w.value() * 0.99);
//     return y;
//   }, {&w});
//   Tensor y = step(x);   // runs and is recorded
//   y = step(x);          // the same operations in one call
//
// The first call with given dtypes and shapes runs the function; later ones run what it did: C++
// code in it is not run again, values that it read are as they were. Results are new tensors.
// Variables that it assigns to, or that are assigned to outside, must be named; other tensors that it
// uses are held, as they are, as long as the function lives. One thread calls it at a time. Whatever throws in a
// later call leaves everything as it was. A named variable that shares memory with other tensors when the function
// is recorded has its own from then on, dense.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "ebb/grad/variable.hpp"
#include "ebb/ops/session.hpp"
#include "ebb/program/program.hpp"

namespace ebb {

namespace detail {

// What record() returns a function of.
class Recorded {
 public:
  using Function = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

  Recorded(Function function, std::vector<Variable*> variables, ProgramOptions options)
      : function_(std::move(function)), variables_(std::move(variables)), options_(options) {}

  // In the current session.
  std::vector<Tensor> operator()(std::span<const Tensor> inputs);
  // How many combinations of dtypes and shapes have been recorded.
  std::size_t programs() const noexcept { return runs_.size(); }

 private:
  struct Run {
    ContextId context;
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
    Program program;
    std::vector<Variable*> assigned;
  };

  bool fits(const Run& run, std::span<const Tensor> inputs) const;
  std::vector<Tensor> first(std::span<const Tensor> inputs);
  std::vector<Tensor> note(std::span<const Tensor> inputs);
  std::vector<Tensor> again(const Run& run, std::span<const Tensor> inputs) const;
  std::vector<Handle> given(std::span<const Tensor> inputs) const;

  Function function_;
  std::vector<Variable*> variables_;
  ProgramOptions options_;
  std::vector<Run> runs_;
};

}  // namespace detail

// fn(const Tensor&...) -> Tensor, or std::vector<Tensor>, becomes a function of the same arguments.
template <typename Fn>
auto record(Fn fn, std::vector<Variable*> variables = {}, ProgramOptions options = {}) {
  return [fn = std::move(fn), variables = std::move(variables), options,
          recorded = std::shared_ptr<detail::Recorded>()](const auto&... arguments) mutable {
    using Result = decltype(fn(arguments...));
    constexpr std::size_t kCount = sizeof...(arguments);
    if (recorded == nullptr) {
      const auto all = [fn](std::span<const Tensor> inputs) -> std::vector<Tensor> {
        return [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
          std::vector<Tensor> made;
          if constexpr (std::is_same_v<Result, Tensor>) {
            made.push_back(fn(inputs[kAt]...));
          } else {
            made = fn(inputs[kAt]...);
          }
          return made;
        }
        (std::make_index_sequence<kCount>());
      };
      recorded = std::make_shared<detail::Recorded>(all, variables, options);
    }
    const std::array<Tensor, kCount> inputs{static_cast<const Tensor&>(arguments)...};
    std::vector<Tensor> made = (*recorded)(inputs);
    if constexpr (std::is_same_v<Result, Tensor>) {
      return std::move(made[0]);
    } else {
      return made;
    }
  };
}

}  // namespace ebb
