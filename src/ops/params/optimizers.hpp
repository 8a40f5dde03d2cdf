// Updates of optimizers: where a call has what, and its numbers.
//
// A call has some scalars, then the inputs of each variable: its value, what the optimizer keeps for
// it, and last its gradient. The results are the scalars of the next step, where they change, and of
// each variable its value and what is kept.
//
// An element's update, each step rounded to float32 (TensorFlow.js's order):
//
//   SGD       value    = negative_rate * gradient + value
//   momentum  kept     = momentum * kept + gradient
//             value    = negative_rate * kept + value
//   Nesterov  value    = negative_rate * (gradient + kept * momentum) + value
//   Adagrad   squares  = squares + gradient^2
//             value    = gradient / sqrt(squares + epsilon) * -rate + value
//   Adadelta  change   = sqrt(updates + epsilon) / sqrt(squares + epsilon) * gradient
//             squares  = squares * rho + gradient^2 * (1 - rho)
//             updates  = updates * rho + change^2 * (1 - rho)
//             value    = change * -rate + value
//   Adam      first    = first * beta1 + gradient * (1 - beta1)
//             second   = second * beta2 + gradient^2 * (1 - beta2)
//             value    = first / (1 - power1) / (sqrt(second / (1 - power2)) + epsilon) * -rate + value
//   Adamax    first    = first * beta1 + gradient * (1 - beta1)
//             norm     = max(norm * beta2, |gradient|)
//             value    = -rate / (iteration * decay + 1) / (1 - power1) * (first / (norm + epsilon)) + value
//   RMSProp   squares  = squares * decay + gradient^2 * (1 - decay)
//             moment   = moment * momentum + gradient * rate / sqrt(squares + epsilon)
//             value    = value - moment
//   centered  mean     = mean * decay + gradient * (1 - decay)
//             moment   = moment * momentum + gradient * rate / sqrt(squares - (mean^2 + epsilon))
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb::ops {

// Where a call has what.
struct UpdateForm {
  std::size_t scalars;      // inputs before the variables'
  std::size_t new_scalars;  // results before the variables'
  std::size_t inputs;       // of a variable; one more than its results

  constexpr std::size_t outputs() const noexcept { return inputs - 1; }
  constexpr std::size_t first_input(std::size_t variable) const noexcept {
    return scalars + variable * inputs;  // arithmetic: of inputs in memory
  }
  constexpr std::size_t first_output(std::size_t variable) const noexcept {
    return new_scalars + variable * outputs();  // arithmetic: of results in memory
  }
};

inline constexpr UpdateForm kAdam{2, 2, 4};
inline constexpr UpdateForm kSgd{1, 0, 2};
inline constexpr UpdateForm kMomentum{2, 0, 3};
inline constexpr UpdateForm kAdagrad{0, 0, 3};
inline constexpr UpdateForm kAdadelta{0, 0, 4};
inline constexpr UpdateForm kAdamax{2, 2, 4};
inline constexpr UpdateForm kRmsProp{0, 0, 4};
inline constexpr UpdateForm kCenteredRmsProp{0, 0, 5};

inline constexpr std::size_t kMostUpdateInputs = 5;

// `rest` is 1 less a number, taken before it is rounded.
struct AdamParams {
  std::size_t variables;
  float beta1, rest1;
  float beta2, rest2;
  float epsilon;
  float negative_rate;
};

struct SgdParams {
  std::size_t variables;
};

struct MomentumParams {
  std::size_t variables;
  std::uint32_t nesterov;
};

struct AdagradParams {
  std::size_t variables;
  float epsilon;
  float negative_rate;
};

struct AdadeltaParams {
  std::size_t variables;
  float rho, rest;
  float epsilon;
  float negative_rate;
};

struct AdamaxParams {
  std::size_t variables;
  float beta1, rest1;
  float beta2;
  float epsilon;
  float decay;
  float negative_rate;
};

struct RmsPropParams {
  std::size_t variables;
  float decay, rest;
  float momentum;
  float epsilon;
  float rate;
  std::uint32_t centered;
};

}  // namespace ebb::ops
