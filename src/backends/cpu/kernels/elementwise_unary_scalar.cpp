// Unary operations on any dtype, one element at a time.
#include <limits>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/elementwise_rows.hpp"
#include "backends/cpu/wrapping.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;

template <typename T, typename Out, typename Function>
void add_row(UnaryRows& rows, ops::OpId id, DType dtype, Function) {
  rows.set(id, dtype, [](const void* x, void* y, std::int64_t count, const double* attributes) {
    const T* from = static_cast<const T*>(x);
    Out* to = static_cast<Out*>(y);
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = convert<Out>(Function()(convert<Arithmetic<T>>(from[i]), attributes));
    }
  });
}

constexpr DType kReals[] = {DType::kFloat32, DType::kInt32,    DType::kBool,
                            DType::kFloat64, DType::kInt64,    DType::kUint8,
                            DType::kFloat16, DType::kBfloat16, DType::kInt8};

// Results of the operand's dtype.
template <typename Function>
void add_real(UnaryRows& rows, ops::OpId id, Function function) {
  for (const DType dtype : kReals) {
    visit(dtype, [&]<typename T>(Type<T>) {
      if constexpr (!kIsComplex<T>) add_row<T, T>(rows, id, dtype, function);
    });
  }
}

// Complex operands too.
template <typename Function>
void add_any(UnaryRows& rows, ops::OpId id, Function function) {
  add_real(rows, id, function);
  add_row<Complex64, Complex64>(rows, id, DType::kComplex64, function);
}

template <typename Function>
void add_predicate(UnaryRows& rows, ops::OpId id, Function function) {
  for (const DType dtype : kReals) {
    visit(dtype, [&]<typename T>(Type<T>) {
      if constexpr (!kIsComplex<T>) add_row<T, Bool>(rows, id, dtype, function);
    });
  }
}

// Integers give float32.
template <typename Function>
void add_floating(UnaryRows& rows, ops::OpId id, Function function) {
  for (const DType dtype : kReals) {
    visit(dtype, [&]<typename T>(Type<T>) {
      if constexpr (std::is_integral_v<T> || std::is_same_v<T, Bool>) {
        add_row<T, float>(rows, id, dtype, function);
      } else if constexpr (!kIsComplex<T>) {
        add_row<T, T>(rows, id, dtype, function);
      }
    });
  }
}

// Integers have no fraction, infinity or NaN; a function of floats is taken of their value.
template <typename A>
auto floating(A a) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<double>(a);
  } else {
    return a;
  }
}

// Near its poles a float's tangent has more digits than std::tan(float) gets right.
constexpr auto kTan = [](auto a, const double*) {
  if constexpr (std::is_same_v<decltype(a), float>) {
    return static_cast<float>(std::tan(static_cast<double>(a)));
  } else {
    return std::tan(floating(a));
  }
};

constexpr auto kSigmoid = [](auto a, const double*) {
  using std::exp;
  const auto x = floating(a);
  using F = std::remove_const_t<decltype(x)>;
  return F(1) / (F(1) + exp(-x));
};

constexpr auto kSoftplus = [](auto a, const double*) {
  const auto x = floating(a);
  using F = std::remove_const_t<decltype(x)>;
  const F threshold = std::log(std::numeric_limits<F>::epsilon()) + F(2);
  if (x < threshold) return std::exp(x);
  if (x > -threshold) return x;
  return std::log1p(std::exp(x));
};

constexpr auto kRelu = [](auto a, const double*) {
  using A = decltype(a);
  return a < A(0) ? A(0) : a;  // NaN stays
};

constexpr auto kRelu6 = [](auto a, const double*) {
  using A = decltype(a);
  return a < A(0) ? A(0) : a > A(6) ? A(6) : a;
};

constexpr auto kSelu = [](auto a, const double*) {
  constexpr double kScale = 1.0507009873554804934193349852946;
  constexpr double kScaleAlpha = 1.7580993408473768599402175208123;
  const auto x = floating(a);
  using F = std::remove_const_t<decltype(x)>;
  return x >= F(0) ? F(kScale) * x : F(kScaleAlpha) * std::expm1(x);
};

constexpr auto kClip = [](auto a, const double* attributes) {
  // Limits beyond 64-bit integers, infinite ones too, do not limit them.
  using A = decltype(a);
  if (static_cast<double>(a) > attributes[1]) return convert<A>(attributes[1]);
  if (static_cast<double>(a) < attributes[0]) return convert<A>(attributes[0]);
  return a;
};

constexpr auto kStep = [](auto a, const double* attributes) {
  const auto x = floating(a);
  using F = std::remove_const_t<decltype(x)>;
  return x != x ? x : x > F(0) ? F(1) : F(attributes[0]);
};

constexpr auto kLeaky = [](auto a, const double* attributes) {
  const auto x = floating(a);
  using F = std::remove_const_t<decltype(x)>;
  return x < F(0) ? F(attributes[0]) * x : x;
};

// To nearest, halves to even.
constexpr auto kRound = [](auto a, const double*) { return std::nearbyint(floating(a)); };

void add_arithmetic(UnaryRows& rows) {
  add_real(rows, op_id("Abs"), [](auto a, const double*) { return a < 0 ? negated(a) : a; });
  add_real(rows, op_id("Ceil"), [](auto a, const double*) { return std::ceil(floating(a)); });
  add_real(rows, op_id("Floor"), [](auto a, const double*) { return std::floor(floating(a)); });
  add_real(rows, op_id("Round"), kRound);
  add_real(rows, op_id("ClipByValue"), kClip);
  add_real(rows, op_id("Relu"), kRelu);
  add_real(rows, op_id("Relu6"), kRelu6);
  add_real(rows, op_id("Step"), kStep);
  add_real(rows, op_id("Sign"), [](auto a, const double*) {
    return decltype(a)(a > 0 ? 1 : a < 0 ? -1 : 0);
  });
  add_any(rows, op_id("Neg"), [](auto a, const double*) { return negated(a); });
  add_any(rows, op_id("Square"), [](auto a, const double*) { return wrapping_product(a, a); });
  add_any(rows, op_id("Reciprocal"), [](auto a, const double*) {
    const auto x = floating(a);
    return std::remove_const_t<decltype(x)>(1) / x;
  });
  add_floating(rows, op_id("LeakyRelu"), kLeaky);
}

void add_predicates(UnaryRows& rows) {
  add_predicate(rows, op_id("IsFinite"),
                [](auto a, const double*) { return std::isfinite(floating(a)); });
  add_predicate(rows, op_id("IsInf"),
                [](auto a, const double*) { return std::isinf(floating(a)); });
  add_predicate(rows, op_id("IsNan"), [](auto a, const double*) { return a != a; });
  add_predicate(rows, op_id("LogicalNot"), [](auto a, const double*) { return a == 0; });
}

void add_exponentials(UnaryRows& rows) {
  add_floating(rows, op_id("Exp"), [](auto a, const double*) { return std::exp(floating(a)); });
  add_row<Complex64, Complex64>(rows, op_id("Exp"), DType::kComplex64,
                                [](Complex64 a, const double*) { return std::exp(a); });
  add_real(rows, op_id("Expm1"), [](auto a, const double*) { return std::expm1(floating(a)); });
  add_row<Complex64, Complex64>(
      rows, op_id("Expm1"), DType::kComplex64,
      [](Complex64 a, const double*) { return std::exp(a) - Complex64(1); });
  add_any(rows, op_id("Log"), [](auto a, const double*) { return std::log(floating(a)); });
  add_real(rows, op_id("Log1p"), [](auto a, const double*) { return std::log1p(floating(a)); });
  add_any(rows, op_id("Sqrt"), [](auto a, const double*) { return std::sqrt(floating(a)); });
  add_any(rows, op_id("Rsqrt"), [](auto a, const double*) {
    const auto root = std::sqrt(floating(a));
    return std::remove_const_t<decltype(root)>(1) / root;
  });
  add_any(rows, op_id("Sigmoid"), kSigmoid);
  add_real(rows, op_id("Softplus"), kSoftplus);
  add_real(rows, op_id("Elu"), [](auto a, const double*) {
    const auto x = floating(a);
    return x >= 0 ? x : std::expm1(x);
  });
  add_real(rows, op_id("Selu"), kSelu);
  add_real(rows, op_id("Erf"), [](auto a, const double*) { return std::erf(floating(a)); });
}

void add_trigonometry(UnaryRows& rows) {
  add_real(rows, op_id("Acos"), [](auto a, const double*) { return std::acos(floating(a)); });
  add_real(rows, op_id("Acosh"), [](auto a, const double*) { return std::acosh(floating(a)); });
  add_real(rows, op_id("Asin"), [](auto a, const double*) { return std::asin(floating(a)); });
  add_real(rows, op_id("Asinh"), [](auto a, const double*) { return std::asinh(floating(a)); });
  add_real(rows, op_id("Atan"), [](auto a, const double*) { return std::atan(floating(a)); });
  add_real(rows, op_id("Atanh"), [](auto a, const double*) { return std::atanh(floating(a)); });
  add_any(rows, op_id("Cos"), [](auto a, const double*) { return std::cos(floating(a)); });
  add_any(rows, op_id("Cosh"), [](auto a, const double*) { return std::cosh(floating(a)); });
  add_any(rows, op_id("Sin"), [](auto a, const double*) { return std::sin(floating(a)); });
  add_any(rows, op_id("Sinh"), [](auto a, const double*) { return std::sinh(floating(a)); });
  add_any(rows, op_id("Tan"), kTan);
  add_any(rows, op_id("Tanh"), [](auto a, const double*) { return std::tanh(floating(a)); });
}

}  // namespace

void add_scalar_unary_rows(UnaryRows& rows) {
  add_arithmetic(rows);
  add_predicates(rows);
  add_exponentials(rows);
  add_trigonometry(rows);
  add_row<Complex64, float>(
      rows, op_id("ComplexAbs"), DType::kComplex64,
      [](Complex64 a, const double*) { return std::hypot(a.real(), a.imag()); });
}

}  // namespace ebb::cpu
