// Binary operations on any dtype, one element at a time.
#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/elementwise_rows.hpp"
#include "backends/cpu/wrapping.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;

template <typename T, typename Out, typename Function>
void add_row(BinaryRows& rows, ops::OpId id, DType dtype, Function) {
  rows.set(id, dtype,
           [](const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out,
              std::int64_t count) {
             const T* left = static_cast<const T*>(a);
             const T* right = static_cast<const T*>(b);
             Out* to = static_cast<Out*>(out);
             for (std::int64_t i = 0; i < count; ++i) {
               to[i] = convert<Out>(Function()(convert<Arithmetic<T>>(left[i * a_step]),
                                               convert<Arithmetic<T>>(right[i * b_step])));
             }
           });
}

constexpr DType kReals[] = {DType::kFloat32, DType::kInt32,    DType::kBool,
                            DType::kFloat64, DType::kInt64,    DType::kUint8,
                            DType::kFloat16, DType::kBfloat16, DType::kInt8};

template <typename Function>
void add_real(BinaryRows& rows, ops::OpId id, Function function) {
  for (const DType dtype : kReals) {
    visit(dtype, [&]<typename T>(Type<T>) {
      if constexpr (!kIsComplex<T>) add_row<T, T>(rows, id, dtype, function);
    });
  }
}

template <typename Function>
void add_any(BinaryRows& rows, ops::OpId id, Function function) {
  add_real(rows, id, function);
  add_row<Complex64, Complex64>(rows, id, DType::kComplex64, function);
}

template <typename Function>
void add_comparison(BinaryRows& rows, ops::OpId id, Function function) {
  for (const DType dtype : kReals) {
    visit(dtype, [&]<typename T>(Type<T>) {
      if constexpr (!kIsComplex<T>) add_row<T, Bool>(rows, id, dtype, function);
    });
  }
}

// The sign is the divisor's.
template <typename A>
A floor_mod(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    if (b == 0 || b == -1) return 0;
    const A rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    const A rest = std::fmod(a, b);
    if ((a < 0 && b < 0) || (a >= 0 && b >= 0)) return rest;
    return std::fmod(rest + b, b);
  }
}

template <typename A>
A floor_quotient(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    if (b == 0) return 0;
    if (b == -1) return negated(a);
    return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  } else {
    return std::floor(a / b);
  }
}

template <typename A>
auto quotient(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<double>(a) / static_cast<double>(b);
  } else {
    return a / b;
  }
}

template <typename A>
auto power(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return std::pow(static_cast<double>(a), static_cast<double>(b));
  } else {
    return std::pow(a, b);
  }
}

template <typename A>
A larger(A a, A b) {
  return a != a ? a : b != b ? b : a > b ? a : b;
}

template <typename A>
A smaller(A a, A b) {
  return a != a ? a : b != b ? b : a < b ? a : b;
}

void add_arithmetic(BinaryRows& rows) {
  add_any(rows, op_id("Add"), [](auto a, auto b) { return wrapping_sum(a, b); });
  add_any(rows, op_id("Sub"),
          [](auto a, auto b) { return wrapping(a, b, [](auto x, auto y) { return x - y; }); });
  add_any(rows, op_id("Multiply"), [](auto a, auto b) { return wrapping_product(a, b); });
  add_any(rows, op_id("SquaredDifference"), [](auto a, auto b) {
    return wrapping(a, b, [](auto x, auto y) { return (x - y) * (x - y); });
  });
  add_any(rows, op_id("RealDiv"), [](auto a, auto b) { return quotient(a, b); });
  add_any(rows, op_id("Pow"), [](auto a, auto b) { return power(a, b); });
  add_real(rows, op_id("Maximum"), [](auto a, auto b) { return larger(a, b); });
  add_real(rows, op_id("Minimum"), [](auto a, auto b) { return smaller(a, b); });
  add_real(rows, op_id("Mod"), [](auto a, auto b) { return floor_mod(a, b); });
  add_real(rows, op_id("Atan2"), [](auto a, auto b) { return std::atan2(a, b); });
  add_real(rows, op_id("Prelu"), [](auto a, auto b) { return a < 0 ? a * b : a; });
  // dy, y
  add_real(rows, op_id("EluGrad"), [](auto a, auto b) { return b >= 0 ? a : a * (b + 1); });
}

void add_quotients(BinaryRows& rows) {
  for (const DType dtype : kReals) {
    visit(dtype, [&]<typename T>(Type<T>) {
      if constexpr (!kIsComplex<T>) {
        using Out = std::conditional_t<std::is_same_v<T, std::int64_t>, std::int64_t, std::int32_t>;
        add_row<T, Out>(rows, op_id("FloorDiv"), dtype,
                        [](auto a, auto b) { return floor_quotient(a, b); });
      }
    });
  }
}

void add_bits(BinaryRows& rows) {
  for (const DType dtype :
       {DType::kInt32, DType::kBool, DType::kInt64, DType::kUint8, DType::kInt8}) {
    visit(dtype, [&]<typename T>(Type<T>) {
      if constexpr (std::is_integral_v<T> || std::is_same_v<T, Bool>) {
        add_row<T, T>(rows, op_id("BitwiseAnd"), dtype, [](auto a, auto b) {
          return static_cast<std::int64_t>(a) & static_cast<std::int64_t>(b);
        });
      }
    });
  }
}

void add_comparisons(BinaryRows& rows) {
  add_comparison(rows, op_id("Equal"), [](auto a, auto b) { return a == b; });
  add_comparison(rows, op_id("NotEqual"), [](auto a, auto b) { return a != b; });
  add_row<Complex64, Bool>(rows, op_id("Equal"), DType::kComplex64,
                           [](Complex64 a, Complex64 b) { return a == b; });
  add_row<Complex64, Bool>(rows, op_id("NotEqual"), DType::kComplex64,
                           [](Complex64 a, Complex64 b) { return a != b; });
  add_comparison(rows, op_id("Greater"), [](auto a, auto b) { return a > b; });
  add_comparison(rows, op_id("GreaterEqual"), [](auto a, auto b) { return a >= b; });
  add_comparison(rows, op_id("Less"), [](auto a, auto b) { return a < b; });
  add_comparison(rows, op_id("LessEqual"), [](auto a, auto b) { return a <= b; });
  add_comparison(rows, op_id("LogicalAnd"), [](auto a, auto b) { return a != 0 && b != 0; });
  add_comparison(rows, op_id("LogicalOr"), [](auto a, auto b) { return a != 0 || b != 0; });
  add_comparison(rows, op_id("LogicalXor"), [](auto a, auto b) { return (a != 0) != (b != 0); });
}

}  // namespace

void add_scalar_binary_rows(BinaryRows& rows) {
  add_arithmetic(rows);
  add_quotients(rows);
  add_bits(rows);
  add_comparisons(rows);
}

}  // namespace ebb::cpu
