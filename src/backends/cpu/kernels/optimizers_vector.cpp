// Optimizers' updates with vectors. Compiled so that no product and sum become one operation
// (cmake/EbbLayers.cmake): each is rounded, as in the operations that these stand for.
#include "backends/cpu/kernels/optimizers.hpp"
#include "backends/cpu/without_sve.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/optimizers_vector.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu {
namespace HWY_NAMESPACE {

HWY_INLINE Vec All(float number) { return hn::Set(Tag(), number); }
HWY_INLINE Vec Squared(Vec v) { return hn::Mul(v, v); }
// old * share + now * rest
HWY_INLINE Vec Mixed(Vec old, float share, Vec now, float rest) {
  return hn::Add(hn::Mul(old, All(share)), hn::Mul(now, All(rest)));
}
// NaN wins, whichever side it is on.
HWY_INLINE Vec Larger(Vec x, Vec y) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::IsNaN(y), y, hn::Max(x, y)));
}

// x / divisor to the bit, by a product with the reciprocal and two corrections, which take a fifth of the
// time of a division. They need fused operations, and rests that are not lost below the smallest number.
HWY_INLINE Vec DividedBy(Vec x, float divisor, [[maybe_unused]] float reciprocal) {
  const Vec by = All(divisor);
#if HWY_ARCH_ARM_A64 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)
  const Tag d;
  const Vec size = hn::Abs(x);
  const auto usual = hn::Or(hn::And(hn::Ge(size, All(0x1p-90F)), hn::Le(size, All(0x1p90F))),
                            hn::Eq(x, hn::Zero(d)));
  if (HWY_LIKELY(hn::AllTrue(d, usual))) {
    const Vec inverse = All(reciprocal);
    const Vec first = hn::Mul(x, inverse);
    const Vec second = hn::MulAdd(hn::NegMulAdd(first, by, x), inverse, first);
    return hn::MulAdd(hn::NegMulAdd(second, by, x), inverse, second);
  }
#endif
  return hn::Div(x, by);
}

// A rule in vectors: `in` are value, what is kept and gradient, `out` value and what is kept.

HWY_INLINE void Apply(const AdamRule& rule, const Vec* in, Vec* out) {
  const ops::AdamParams& numbers = rule.numbers;
  out[1] = Mixed(in[1], numbers.beta1, in[3], numbers.rest1);
  out[2] = Mixed(in[2], numbers.beta2, Squared(in[3]), numbers.rest2);
  const Vec mean = DividedBy(out[1], rule.correction1, rule.reciprocal1);
  const Vec spread = hn::Sqrt(DividedBy(out[2], rule.correction2, rule.reciprocal2));
  const Vec change = hn::Div(mean, hn::Add(spread, All(numbers.epsilon)));
  out[0] = hn::Add(hn::Mul(change, All(numbers.negative_rate)), in[0]);
}

HWY_INLINE void Apply(const SgdRule& rule, const Vec* in, Vec* out) {
  out[0] = hn::Add(hn::Mul(All(rule.negative_rate), in[1]), in[0]);
}

HWY_INLINE void Apply(const MomentumRule& rule, const Vec* in, Vec* out) {
  out[1] = hn::Add(hn::Mul(All(rule.momentum), in[1]), in[2]);
  out[0] = hn::Add(hn::Mul(All(rule.negative_rate), out[1]), in[0]);
}

HWY_INLINE void Apply(const NesterovRule& rule, const Vec* in, Vec* out) {
  out[1] = hn::Add(hn::Mul(All(rule.momentum), in[1]), in[2]);
  const Vec ahead = hn::Add(in[2], hn::Mul(out[1], All(rule.momentum)));
  out[0] = hn::Add(hn::Mul(All(rule.negative_rate), ahead), in[0]);
}

HWY_INLINE void Apply(const AdagradRule& rule, const Vec* in, Vec* out) {
  const ops::AdagradParams& numbers = rule.numbers;
  out[1] = hn::Add(in[1], Squared(in[2]));
  const Vec change = hn::Div(in[2], hn::Sqrt(hn::Add(out[1], All(numbers.epsilon))));
  out[0] = hn::Add(hn::Mul(change, All(numbers.negative_rate)), in[0]);
}

HWY_INLINE void Apply(const AdadeltaRule& rule, const Vec* in, Vec* out) {
  const ops::AdadeltaParams& numbers = rule.numbers;
  const auto root = [&](Vec v) { return hn::Sqrt(hn::Add(v, All(numbers.epsilon))); };
  const Vec change = hn::Mul(hn::Div(root(in[2]), root(in[1])), in[3]);
  out[1] = Mixed(in[1], numbers.rho, Squared(in[3]), numbers.rest);
  out[2] = Mixed(in[2], numbers.rho, Squared(change), numbers.rest);
  out[0] = hn::Add(hn::Mul(change, All(numbers.negative_rate)), in[0]);
}

HWY_INLINE void Apply(const AdamaxRule& rule, const Vec* in, Vec* out) {
  const ops::AdamaxParams& numbers = rule.numbers;
  out[1] = Mixed(in[1], numbers.beta1, in[3], numbers.rest1);
  out[2] = Larger(hn::Mul(in[2], All(numbers.beta2)), hn::Abs(in[3]));
  const Vec change = hn::Div(out[1], hn::Add(out[2], All(numbers.epsilon)));
  out[0] = hn::Add(hn::Mul(All(rule.corrected_rate), change), in[0]);
}

// The moment and the value, from what the gradient is divided by the root of.
HWY_INLINE void Move(const ops::RmsPropParams& numbers, Vec under_root, Vec gradient, const Vec* in,
                     Vec* out) {
  const Vec change = hn::Div(hn::Mul(gradient, All(numbers.rate)), hn::Sqrt(under_root));
  out[2] = hn::Add(hn::Mul(in[2], All(numbers.momentum)), change);
  out[0] = hn::Sub(in[0], out[2]);
}

HWY_INLINE void Apply(const RmsPropRule& rule, const Vec* in, Vec* out) {
  const ops::RmsPropParams& numbers = rule.numbers;
  out[1] = Mixed(in[1], numbers.decay, Squared(in[3]), numbers.rest);
  Move(numbers, hn::Add(out[1], All(numbers.epsilon)), in[3], in, out);
}

HWY_INLINE void Apply(const CenteredRmsPropRule& rule, const Vec* in, Vec* out) {
  const ops::RmsPropParams& numbers = rule.numbers;
  out[1] = Mixed(in[1], numbers.decay, Squared(in[4]), numbers.rest);
  out[3] = Mixed(in[3], numbers.decay, in[4], numbers.rest);
  const Vec centre = hn::Add(Squared(out[3]), All(numbers.epsilon));
  Move(numbers, hn::Sub(out[1], centre), in[4], in, out);
}

// Rule and row are copies: what is stored might be part of them otherwise, so they would be read again for each vector.
template <typename Rule>
HWY_INLINE void UpdateBy(const Rule rule, const UpdateRow row, std::size_t count) {
  constexpr std::size_t kInputs = Rule::kForm.inputs, kOutputs = Rule::kForm.outputs();
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  Vec in[kInputs], out[kOutputs];
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::size_t k = 0; k < kInputs; ++k) in[k] = hn::LoadU(d, row.in[k] + i);
    Apply(rule, in, out);
    for (std::size_t k = 0; k < kOutputs; ++k) hn::StoreU(out[k], d, row.out[k] + i);
  }
  if (i == count) return;
  const std::size_t rest = count - i;
  for (std::size_t k = 0; k < kInputs; ++k) in[k] = LoadSome(d, row.in[k] + i, rest);
  Apply(rule, in, out);
  for (std::size_t k = 0; k < kOutputs; ++k) StoreSome(out[k], d, row.out[k] + i, rest);
}

// One rule after another, not std::visit: its table of functions would not be compiled for the
// target.
template <std::size_t kRule = 0>
HWY_INLINE void UpdateByAny(const UpdateRule& rule, const UpdateRow& row, std::size_t count) {
  if constexpr (kRule < std::variant_size_v<UpdateRule>) {
    if (const auto* this_one = std::get_if<kRule>(&rule)) return UpdateBy(*this_one, row, count);
    UpdateByAny<kRule + 1>(rule, row, count);
  }
}

void UpdateRowOf(const UpdateRow& row, std::int64_t count, const UpdateRule& rule) {
  UpdateByAny(rule, row, static_cast<std::size_t>(count));
}

}  // namespace HWY_NAMESPACE
}  // namespace ebb::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {

HWY_EXPORT(UpdateRowOf);

float corrected_rate(const ops::AdamaxParams& numbers, float power1, float iteration) {
  const float decayed = iteration * numbers.decay;
  return numbers.negative_rate / (decayed + 1.0F) / (1.0F - power1);
}

void update_row(const UpdateRow& row, std::int64_t count, const UpdateRule& rule) {
  HWY_DYNAMIC_DISPATCH(UpdateRowOf)(row, count, rule);
}

}  // namespace ebb::cpu
#endif
