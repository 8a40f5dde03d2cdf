// Gradients of functions, as functions.
//
//   auto f = [](const Tensor& x) { return ops::sum(x * x * x, {0}); };
//   Tensor slope = grad(f)(x);                 // 3 x^2
//   Tensor bend = grad([&](const Tensor& x) { return ops::sum(grad(f)(x), {0}); })(x);   // 6 x
//   auto [loss, gradients] = value_and_grad(model_loss, variables)();
//
// What the result does not depend on has a gradient of zeros. A result that is not a scalar counts
// by the sum of its elements.
//
// An argument is what the function is given, and a variable is itself. What the function has besides is a
// constant, also where it is the same tensor: another argument, another variable of the same value, a copy
// that was made before. So is the variable itself that is given as an argument: to optimise an input, let the
// function use its variable.
#pragma once

#include <array>
#include <concepts>
#include <tuple>
#include <vector>

#include "ebb/grad/tape.hpp"
#include "ebb/grad/variable.hpp"

namespace ebb {

// With one argument a Tensor, else one for each.
template <std::size_t kArguments>
struct ValueAndGradients {
  Tensor value;
  std::conditional_t<kArguments == 1, Tensor, std::array<Tensor, kArguments>> gradients;
};

struct ValueAndVariableGradients {
  Tensor value;
  std::vector<Tensor> gradients;  // by the variables, in their order
};

namespace detail {
// backward() of one output, zeros where there is no way.
std::vector<Tensor> gradients_of(Tape& tape, const Tensor& value,
                                 std::span<const Tensor* const> wanted);

// A tape that watches variables, from its making on and as they are then: the function may assign to them.
class WatchingTape {
 public:
  explicit WatchingTape(std::span<Variable* const> variables);

  // Gradients of the value, none where there is no way to it. Once.
  std::vector<Tensor> ways_from(const Tensor& value);
  // Zeros for those.
  std::vector<Tensor> with_zeros(std::vector<Tensor> ways) const;

 private:
  Tape tape_;
  std::vector<Tensor> watched_;
};

// A tensor under a name of its own: the variable that it may be the value of is something else.
template <std::convertible_to<const Tensor&> Argument>
Tensor own(const Argument& argument) {
  return static_cast<const Tensor&>(argument);
}
template <typename Argument>
const Argument& own(const Argument& argument) {
  return argument;
}
}  // namespace detail

// fn(const Tensor&...) -> Tensor becomes a function of the same arguments.
template <typename Fn>
auto value_and_grad(Fn fn) {
  return [fn = std::move(fn)](const auto&... arguments) {
    constexpr std::size_t kCount = sizeof...(arguments);
    static_assert(kCount > 0, "of a function without arguments: value_and_grad(fn, variables)");
    // Names of the call's own: what the function has anyway is something else, also where it is the same tensor.
    const std::array<Tensor, kCount> own{static_cast<const Tensor&>(arguments)...};
    std::array<const Tensor*, kCount> wanted{};
    Tape tape(TapeOptions{.copies = false});
    for (std::size_t i = 0; i < kCount; ++i) tape.watch(*(wanted[i] = &own[i]));
    ValueAndGradients<kCount> made{.value = std::apply(fn, own), .gradients = {}};
    std::vector<Tensor> gradients = detail::gradients_of(tape, made.value, wanted);
    if constexpr (kCount == 1) {
      made.gradients = std::move(gradients[0]);
    } else {
      std::move(gradients.begin(), gradients.end(), made.gradients.begin());
    }
    return made;
  };
}

template <typename Fn>
auto grad(Fn fn) {
  return [both = value_and_grad(std::move(fn))](const auto&... arguments) {
    return both(arguments...).gradients;
  };
}

// Of a function that uses variables: by each of them, whatever its arguments, and by the values that they have when
// it is called, also where it assigns others.
template <typename Fn>
auto value_and_grad(Fn fn, std::vector<Variable*> variables) {
  detail::check_are_variables(variables, "value_and_grad");
  return [fn = std::move(fn), variables = std::move(variables)](const auto&... arguments) {
    const auto given = std::tuple<decltype(detail::own(arguments))...>(detail::own(arguments)...);
    detail::WatchingTape tape(variables);
    ValueAndVariableGradients made{.value = std::apply(fn, given), .gradients = {}};
    made.gradients = tape.with_zeros(tape.ways_from(made.value));
    return made;
  };
}

}  // namespace ebb
