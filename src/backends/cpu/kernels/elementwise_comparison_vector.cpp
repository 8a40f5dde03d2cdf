// Comparisons of float32 and int32 with vectors; the results are bytes.
#include "backends/cpu/kernels/elementwise_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise_comparison_vector.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu {
namespace HWY_NAMESPACE {

template <typename T, typename Function>
BinaryRow ComparisonOf(Function) {
  return [](const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out,
            std::int64_t count) {
    const hn::ScalableTag<T> d;
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Rebind<std::uint8_t, decltype(d)> db;
    std::uint8_t* HWY_RESTRICT to = static_cast<std::uint8_t*>(out);
    Pairs(d, static_cast<const T*>(a), a_step, static_cast<const T*>(b), b_step,
          static_cast<std::size_t>(count), [&](auto x, auto y, std::size_t i, std::size_t some) {
            const auto ones =
                hn::IfThenElseZero(hn::RebindMask(di, Function()(x, y)), hn::Set(di, 1));
            const auto bytes = hn::DemoteTo(db, ones);
            if (some == hn::Lanes(d)) {
              hn::StoreU(bytes, db, to + i);
            } else {
              HWY_ALIGN std::uint8_t lanes[hn::MaxLanes(db)];
              hn::StoreU(bytes, db, lanes);
              for (std::size_t j = 0; j < some; ++j) to[i + j] = lanes[j];
            }
          });
  };
}

void AddComparisons(BinaryRows& rows) {
  using ops::op_id;
  const auto both = [&](ops::OpId id, auto function) {
    rows.set(id, DType::kFloat32, ComparisonOf<float>(function));
    rows.set(id, DType::kInt32, ComparisonOf<std::int32_t>(function));
  };
  both(op_id("Equal"), [](auto x, auto y) { return hn::Eq(x, y); });
  // NaN differs from everything.
  both(op_id("NotEqual"), [](auto x, auto y) { return hn::Not(hn::Eq(x, y)); });
  both(op_id("Greater"), [](auto x, auto y) { return hn::Gt(x, y); });
  rows.set(op_id("GreaterEqual"), DType::kFloat32,
           ComparisonOf<float>([](auto x, auto y) { return hn::Ge(x, y); }));
  rows.set(op_id("GreaterEqual"), DType::kInt32,
           ComparisonOf<std::int32_t>([](auto x, auto y) { return hn::Not(hn::Lt(x, y)); }));
  both(op_id("Less"), [](auto x, auto y) { return hn::Lt(x, y); });
  rows.set(op_id("LessEqual"), DType::kFloat32,
           ComparisonOf<float>([](auto x, auto y) { return hn::Le(x, y); }));
  rows.set(op_id("LessEqual"), DType::kInt32,
           ComparisonOf<std::int32_t>([](auto x, auto y) { return hn::Not(hn::Gt(x, y)); }));
}

}  // namespace HWY_NAMESPACE
}  // namespace ebb::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {

HWY_EXPORT(AddComparisons);

void add_vector_comparison_rows(BinaryRows& rows) { HWY_DYNAMIC_DISPATCH(AddComparisons)(rows); }

}  // namespace ebb::cpu
#endif
