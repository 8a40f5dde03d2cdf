// A call of an operation whose gradient is held against finite differences.
#pragma once

#include <string>
#include <vector>

#include "ebb/ops/session.hpp"

namespace ebb::test {

struct Given {
  enum class Kind : std::uint8_t { kNone, kFloating, kComplex, kInt32, kBool };
  Kind kind = Kind::kFloating;
  Shape shape{};
  double low = -2, high = 2;     // floating: random values between
  std::vector<double> values{};  // or these
};

inline Given f(Shape shape, double low = -2, double high = 2) {
  return {Given::Kind::kFloating, shape, low, high, {}};
}
inline Given values(Shape shape, std::vector<double> given) {
  return {Given::Kind::kFloating, shape, 0, 0, std::move(given)};
}
inline Given c(Shape shape) { return {Given::Kind::kComplex, shape, -2, 2, {}}; }
inline Given ints(Shape shape, std::vector<double> given) {
  return {Given::Kind::kInt32, shape, 0, 0, std::move(given)};
}
inline Given bools(Shape shape, std::vector<double> given) {
  return {Given::Kind::kBool, shape, 0, 0, std::move(given)};
}
inline Given left_out() { return {Given::Kind::kNone, {}, 0, 0, {}}; }

struct GradCase {
  std::string op;
  std::vector<Given> inputs;
  std::vector<double> attributes{};
};

const std::vector<GradCase>& grad_cases();

using Numbers = std::vector<double>;  // a complex one is two

inline bool is_floating(const Given& given) {
  return given.kind == Given::Kind::kFloating || given.kind == Given::Kind::kComplex;
}
// Of each operand: those that were given, or random ones, the same each time.
std::vector<Numbers> numbers_for(const GradCase& one);
// The operand, in the current session; `dtype` is that of floating ones.
Tensor tensor_for(const Given& given, const Numbers& numbers, DType dtype);
// The same elements, transposed in memory.
Tensor strided(const Tensor& x);

}  // namespace ebb::test
