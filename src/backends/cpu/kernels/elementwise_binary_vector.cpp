// Binary arithmetic on float32 and int32 with vectors.
#include "backends/cpu/kernels/elementwise_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise_binary_vector.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu {
namespace HWY_NAMESPACE {

template <typename T, typename Function>
BinaryRow RowOf(Function) {
  return [](const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out,
            std::int64_t count) {
    const hn::ScalableTag<T> d;
    MapPairs(d, static_cast<const T*>(a), a_step, static_cast<const T*>(b), b_step,
             static_cast<T*>(out), static_cast<std::size_t>(count), Function());
  };
}

constexpr auto kSquaredDifference = [](auto x, auto y) {
  const auto difference = hn::Sub(x, y);
  return hn::Mul(difference, difference);
};

// NaN wins, whichever side it is on.
constexpr auto kLarger = [](auto x, auto y) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::IsNaN(y), y, hn::Max(x, y)));
};
constexpr auto kSmaller = [](auto x, auto y) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::IsNaN(y), y, hn::Min(x, y)));
};

void AddArithmetic(BinaryRows& rows) {
  using ops::op_id;
  const auto both = [&](ops::OpId id, auto function) {
    rows.set(id, DType::kFloat32, RowOf<float>(function));
    rows.set(id, DType::kInt32, RowOf<std::int32_t>(function));
  };
  both(op_id("Add"), [](auto x, auto y) { return hn::Add(x, y); });
  both(op_id("Sub"), [](auto x, auto y) { return hn::Sub(x, y); });
  both(op_id("Multiply"), [](auto x, auto y) { return hn::Mul(x, y); });
  both(op_id("SquaredDifference"), kSquaredDifference);
  rows.set(op_id("Maximum"), DType::kFloat32, RowOf<float>(kLarger));
  rows.set(op_id("Minimum"), DType::kFloat32, RowOf<float>(kSmaller));
  rows.set(op_id("Maximum"), DType::kInt32,
           RowOf<std::int32_t>([](auto x, auto y) { return hn::Max(x, y); }));
  rows.set(op_id("Minimum"), DType::kInt32,
           RowOf<std::int32_t>([](auto x, auto y) { return hn::Min(x, y); }));
  rows.set(op_id("RealDiv"), DType::kFloat32,
           RowOf<float>([](auto x, auto y) { return hn::Div(x, y); }));
}

}  // namespace HWY_NAMESPACE
}  // namespace ebb::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {

HWY_EXPORT(AddArithmetic);

void add_vector_binary_rows(BinaryRows& rows) {
  HWY_DYNAMIC_DISPATCH(AddArithmetic)(rows);
  add_vector_power_rows(rows);
}

}  // namespace ebb::cpu
#endif
