// Unary arithmetic on float32 with vectors.
#include "backends/cpu/kernels/elementwise_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise_unary_vector.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu {
namespace HWY_NAMESPACE {

// f(vector, tag, attributes)
template <typename Function>
UnaryRow RowOf(Function) {
  return [](const void* x, void* y, std::int64_t count, const double* attributes) {
    const Tag d;
    Map(d, static_cast<const float*>(x), static_cast<float*>(y), static_cast<std::size_t>(count),
        [&](auto v) { return Function()(v, d, attributes); });
  };
}

template <class D>
HWY_INLINE auto Constant(D d, double value) {
  return hn::Set(d, static_cast<float>(value));
}

void AddUnary(UnaryRows& rows) {
  using ops::op_id;
  const auto add = [&](ops::OpId id, auto function) {
    rows.set(id, DType::kFloat32, RowOf(function));
  };
  add(op_id("Abs"), [](auto v, auto, const double*) { return hn::Abs(v); });
  add(op_id("Neg"), [](auto v, auto, const double*) { return hn::Neg(v); });
  add(op_id("Square"), [](auto v, auto, const double*) { return hn::Mul(v, v); });
  add(op_id("Sqrt"), [](auto v, auto, const double*) { return hn::Sqrt(v); });
  add(op_id("Rsqrt"),
      [](auto v, auto d, const double*) { return hn::Div(Constant(d, 1), hn::Sqrt(v)); });
  add(op_id("Reciprocal"),
      [](auto v, auto d, const double*) { return hn::Div(Constant(d, 1), v); });
  add(op_id("Ceil"), [](auto v, auto, const double*) { return hn::Ceil(v); });
  add(op_id("Floor"), [](auto v, auto, const double*) { return hn::Floor(v); });
  add(op_id("Round"), [](auto v, auto, const double*) { return hn::Round(v); });
  // A comparison that is false for NaN keeps it.
  add(op_id("Relu"), [](auto v, auto d, const double*) {
    return hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Zero(d), v);
  });
  add(op_id("Relu6"), [](auto v, auto d, const double*) {
    const auto positive = hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Zero(d), v);
    return hn::IfThenElse(hn::Gt(v, Constant(d, 6)), Constant(d, 6), positive);
  });
  add(op_id("LeakyRelu"), [](auto v, auto d, const double* attributes) {
    return hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Mul(v, Constant(d, attributes[0])), v);
  });
  add(op_id("ClipByValue"), [](auto v, auto d, const double* attributes) {
    const auto least = Constant(d, attributes[0]), most = Constant(d, attributes[1]);
    const auto risen = hn::IfThenElse(hn::Lt(v, least), least, v);
    return hn::IfThenElse(hn::Gt(v, most), most, risen);
  });
  add(op_id("Step"), [](auto v, auto d, const double* attributes) {
    const auto step =
        hn::IfThenElse(hn::Gt(v, hn::Zero(d)), Constant(d, 1), Constant(d, attributes[0]));
    return hn::IfThenElse(hn::IsNaN(v), v, step);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace ebb::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {

HWY_EXPORT(AddUnary);

void add_vector_unary_rows(UnaryRows& rows) { HWY_DYNAMIC_DISPATCH(AddUnary)(rows); }

}  // namespace ebb::cpu
#endif
