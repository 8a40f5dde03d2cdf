// Adam's update with vectors. Compiled so that no product and sum become one operation
// (cmake/EbbLayers.cmake): each is rounded, as in the operations that this one stands for.
#include "backends/cpu/kernels/optimizers.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/optimizers_vector.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu {
namespace HWY_NAMESPACE {

struct Moments {
  Vec value, first, second;
};

HWY_INLINE Moments Updated(Tag d, Vec value, Vec first, Vec second, Vec gradient,
                           const AdamStep& step) {
  const auto all = [d](float number) { return hn::Set(d, number); };
  const ops::AdamParams& numbers = step.numbers;
  const Vec new_first =
      hn::Add(hn::Mul(first, all(numbers.beta1)), hn::Mul(gradient, all(numbers.rest1)));
  const Vec new_second = hn::Add(hn::Mul(second, all(numbers.beta2)),
                                 hn::Mul(hn::Mul(gradient, gradient), all(numbers.rest2)));
  const Vec mean = hn::Div(new_first, all(step.correction1));
  const Vec spread = hn::Sqrt(hn::Div(new_second, all(step.correction2)));
  const Vec change =
      hn::Mul(hn::Div(mean, hn::Add(spread, all(numbers.epsilon))), all(numbers.negative_rate));
  return {hn::Add(change, value), new_first, new_second};
}

void UpdateRow(const AdamRow& row, std::int64_t count, const AdamStep& step) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d), all = static_cast<std::size_t>(count);
  std::size_t i = 0;
  for (; i + lanes <= all; i += lanes) {
    const Moments made =
        Updated(d, hn::LoadU(d, row.value + i), hn::LoadU(d, row.first + i),
                hn::LoadU(d, row.second + i), hn::LoadU(d, row.gradient + i), step);
    hn::StoreU(made.value, d, row.new_value + i);
    hn::StoreU(made.first, d, row.new_first + i);
    hn::StoreU(made.second, d, row.new_second + i);
  }
  if (i == all) return;
  const std::size_t rest = all - i;
  const Moments made =
      Updated(d, LoadSome(d, row.value + i, rest), LoadSome(d, row.first + i, rest),
              LoadSome(d, row.second + i, rest), LoadSome(d, row.gradient + i, rest), step);
  StoreSome(made.value, d, row.new_value + i, rest);
  StoreSome(made.first, d, row.new_first + i, rest);
  StoreSome(made.second, d, row.new_second + i, rest);
}

}  // namespace HWY_NAMESPACE
}  // namespace ebb::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {

HWY_EXPORT(UpdateRow);

void adam_row(const AdamRow& row, std::int64_t count, const AdamStep& step) {
  HWY_DYNAMIC_DISPATCH(UpdateRow)(row, count, step);
}

}  // namespace ebb::cpu
#endif
