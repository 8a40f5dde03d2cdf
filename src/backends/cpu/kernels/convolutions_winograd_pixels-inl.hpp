// Single pixels of what Winograd's convolutions make. Included once for each target.
#if defined(EBB_WINOGRAD_PIXELS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EBB_WINOGRAD_PIXELS_INL_HPP
#undef EBB_WINOGRAD_PIXELS_INL_HPP
#else
#define EBB_WINOGRAD_PIXELS_INL_HPP
#endif

#include <hwy/highway.h>

#include "backends/cpu/kernels/convolutions_winograd_transforms-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu::HWY_NAMESPACE {

// Where a vector of filters' results go, or a group of tiles' from there on.
struct Place {
  Index image, y, x, filter;
};

// The results of one pixel by their definition.
inline Floats convolve_pixel(const Extents& e, const Place& at, Floats sum, std::size_t some) {
  const Lanes d;
  for (Index i = 0; i < 9; ++i) {
    const Index y = at.y - e.top + i / 3;
    const Index x = at.x - e.left + i % 3;
    if (y < 0 || y >= e.in_height || x < 0 || x >= e.in_width) continue;
    const float* pixel = e.image(at.image) + (y * e.in_width + x) * e.channels;
    const float* f = e.at.filter + i * e.channels * e.filters + at.filter;
    for (Index c = 0; c < e.channels; ++c) {
      sum = hn::MulAdd(LoadSome(d, f + c * e.filters, some), hn::Set(d, pixel[c]), sum);
    }
  }
  return sum;
}

HWY_INLINE float* result_at(const Extents& e, const Place& at) {
  const Index pixel = (at.image * e.out_height + at.y) * e.out_width + at.x;
  return e.at.result + pixel * e.filters + at.filter;
}

}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // EBB_WINOGRAD_PIXELS_INL_HPP
