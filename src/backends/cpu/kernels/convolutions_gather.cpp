#include "backends/cpu/kernels/convolutions_gather.hpp"

#include <algorithm>

#include "backends/cpu/kernels/window_taps.hpp"

namespace ebb::cpu {

using ops::Spatial;

std::int64_t Gather::taps() const noexcept { return volume(windows_.size); }

std::int64_t Gather::rows() const noexcept { return windows_.batch * volume(places()); }

bool Gather::is_identity() const noexcept {
  return taps() == 1 && windows_.in == windows_.out && windows_.stride == Spatial{1, 1, 1} &&
         windows_.before == Spatial{};
}

// Where along an axis the tap of a place lies, or -1.
std::int64_t Gather::source(std::size_t axis, std::int64_t place, std::int64_t tap) const noexcept {
  const std::int64_t reach = tap * windows_.dilation[axis] - windows_.before[axis];
  std::int64_t at = place * windows_.stride[axis] + reach;
  if (back_) {
    at = place - reach;
    if (at % windows_.stride[axis] != 0) return -1;
    at /= windows_.stride[axis];
  }
  return at < sources()[axis] ? at : -1;
}

const float* Gather::pixel(std::int64_t image, const Spatial& place,
                           std::int64_t tap) const noexcept {
  const Spatial& size = windows_.size;
  const Spatial& extents = sources();
  const Spatial taps{tap / (size[1] * size[2]), tap / size[2] % size[1], tap % size[2]};
  std::int64_t at = image;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t along = source(axis, place[axis], taps[axis]);
    if (along < 0) return nullptr;
    at = at * extents[axis] + along;
  }
  return from_ + at * channels_;
}

void Gather::rows_to(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last,
                     float* to) const {
  const Spatial& extents = places();
  const std::int64_t plane = extents[1] * extents[2];
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t image = row / (extents[0] * plane);
    const Spatial place{row / plane % extents[0], row / extents[2] % extents[1], row % extents[2]};
    for (std::int64_t column = first; column < last;) {
      const std::int64_t tap = column / channels_;
      const std::int64_t from = column % channels_;
      const std::int64_t count = std::min(channels_ - from, last - column);
      if (const float* numbers = pixel(image, place, tap)) {
        to = std::copy_n(numbers + from, count, to);
      } else {
        to = std::fill_n(to, count, 0.0F);
      }
      column += count;
    }
  }
}

}  // namespace ebb::cpu
