// Signals. Transforms are KISS FFT's, in double: its float twiddles lose digits
// as rows get longer. A length with a large prime factor p costs p operations an element.
#include <algorithm>
#include <cmath>
#include <kissfft/kissfft.hh>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

void transform(OpCall& call) {
  using Complex = std::complex<double>;
  const Shape& shape = call.input(0).shape;
  const std::int64_t count = ops::elements(shape);
  if (count == 0) return;
  const auto length = static_cast<std::size_t>(shape.dims().back());
  const bool inverse = call.spec().id == op_id("IFFT");
  const double scale = inverse ? 1.0 / static_cast<double>(length) : 1.0;
  const kissfft<double> plan(length, inverse);
  auto* row = call.workspace<Complex>(checked_mul(length, 2));
  Complex* transformed = row + length;
  const Complex64* in = call.in<Complex64>(0);
  Complex64* out = call.out<Complex64>(0);
  for (const Complex64* end = in + count; in != end; in += length, out += length) {
    std::copy_n(in, length, row);
    plan.transform(row, transformed);
    std::transform(transformed, transformed + length, out,
                   [scale](Complex value) { return Complex64(value * scale); });
  }
}

}  // namespace

void add_signal(KernelTable& kernels) {
  kernels.set(op_id("FFT"), transform);
  kernels.set(op_id("IFFT"), transform);
}

}  // namespace ebb::cpu
