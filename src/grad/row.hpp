// A gradient is a column beside the table of operations: each row has one, or says why not.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ebb/ops/table.hpp"

namespace ebb::gradients {

class Backprop;

// Computes, of operations, what of dy reaches each input: src/grad/backprop.hpp.
using Gradient = void (*)(Backprop& call);

// What a gradient needs of the forward call: bit i is input, or output, i.
struct Keeps {
  std::uint8_t inputs = 0;
  std::uint8_t outputs = 0;
  bool crosswise = false;  // an input only where the gradient of another one is wanted
};

inline constexpr Keeps kNothing{};
inline constexpr Keeps kInput{.inputs = 1};
inline constexpr Keeps kOutput{.outputs = 1};
inline constexpr Keeps kInputs{.inputs = 255};
inline constexpr Keeps kOtherInputs{.inputs = 255, .crosswise = true};

enum class Why : std::uint8_t {
  kHasOne,
  kConstant,  // nothing to say: the result does not change with the operands, or is whole numbers
  kMissing,   // there is one, and it is not built: backward() through it is an error
};

struct GradientRow {
  std::string_view op;
  Gradient gradient;  // null only where `why` says so
  Keeps keeps{};
  Why why = Why::kHasOne;
  std::string_view reason{};
  bool complex = false;  // it holds for complex64 as well: by real and imaginary parts, dre + i dim
};

constexpr GradientRow complex_too(std::string_view op, Gradient gradient, Keeps keeps = {}) {
  return {op, gradient, keeps, Why::kHasOne, {}, true};
}
constexpr GradientRow constant(std::string_view op, std::string_view reason) {
  return {op, nullptr, {}, Why::kConstant, reason};
}
constexpr GradientRow missing(std::string_view op, std::string_view reason) {
  return {op, nullptr, {}, Why::kMissing, reason};
}

// Whether the rows are those of the table that belong to the file, each once, with a gradient or a
// reason. What belongs is a family's name, or a range of ids.
struct OfFamily {
  std::string_view name;
  constexpr bool has(std::string_view family, ops::OpId) const { return family == name; }
};
struct OfIds {
  ops::OpId first, end;
  constexpr bool has(std::string_view, ops::OpId id) const { return id >= first && id < end; }
};

consteval std::size_t times_in(std::span<const GradientRow> rows, std::string_view op) {
  std::size_t times = 0;
  for (const GradientRow& each : rows) times += each.op == op ? 1 : 0;  // arithmetic: of rows
  return times;
}

template <typename... Parts>
consteval bool covers(std::span<const GradientRow> rows, Parts... parts) {
  std::size_t needed = 0;
  for (const ops::Family& family : ops::kFamilies) {
    for (const ops::detail::Row& row : family.rows) {
      if (!(parts.has(family.name, row.id) || ...)) continue;
      if (times_in(rows, row.name) != 1) return false;
      ++needed;
    }
  }
  // Not by the pointer: under UBSan gcc does not compare that at compile time.
  for (const GradientRow& each : rows) {
    if ((each.why == Why::kHasOne) != each.reason.empty()) return false;
  }
  return needed == rows.size() && needed > 0;
}

// One for each file.
std::span<const GradientRow> of_elementwise_unary() noexcept;
std::span<const GradientRow> of_elementwise_binary() noexcept;
std::span<const GradientRow> of_movement() noexcept;
std::span<const GradientRow> of_indexing() noexcept;
std::span<const GradientRow> of_reductions() noexcept;
std::span<const GradientRow> of_products() noexcept;
std::span<const GradientRow> of_convolutions() noexcept;
std::span<const GradientRow> of_pooling() noexcept;
std::span<const GradientRow> of_normalisation() noexcept;
std::span<const GradientRow> of_images() noexcept;
std::span<const GradientRow> of_others() noexcept;

// In place of those above, where TensorFlow.js's gradients are asked for.
std::span<const GradientRow> of_tensorflow_js() noexcept;

// Of an operation's id; null where the table has no such row.
const GradientRow* gradient_of(ops::OpId op, bool tensorflow_js = false) noexcept;

}  // namespace ebb::gradients
