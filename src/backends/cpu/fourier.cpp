// Fourier transforms of the last axis, by kissfft. In doubles: a float's phase is off by the
// thousandth term.
#include <kissfft/kissfft.hh>
#include <vector>

#include "backends/cpu/element.hpp"
#include "backends/cpu/families.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

template <bool kInverse>
void transform(OpCall& call) {
  const Shape& shape = call.input(0).shape;
  const std::int64_t length = shape.dims()[shape.rank() - 1];
  if (ops::elements(shape) == 0) return;
  const auto count = static_cast<std::size_t>(length);
  const kissfft<double> plan(count, kInverse);
  std::vector<std::complex<double>> before(count), after(count);
  const double scale = kInverse ? 1.0 / static_cast<double>(length) : 1.0;
  const Complex64* from = call.in<Complex64>(0);
  Complex64* to = call.out<Complex64>(0);
  for (std::int64_t row = 0; row < ops::elements(shape) / length; ++row) {
    for (std::size_t i = 0; i < count; ++i) before[i] = *from++;
    plan.transform(before.data(), after.data());
    for (std::size_t i = 0; i < count; ++i) {
      const std::complex<double> value = after[i] * scale;
      *to++ = Complex64(static_cast<float>(value.real()), static_cast<float>(value.imag()));
    }
  }
}

}  // namespace

void add_fourier(KernelTable& kernels) {
  kernels.set(op_id("FFT"), transform<false>);
  kernels.set(op_id("IFFT"), transform<true>);
}

}  // namespace ebb::cpu
