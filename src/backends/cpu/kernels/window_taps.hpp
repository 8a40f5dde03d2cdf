// A window that moves over data of two or three spatial axes, channels last.
#pragma once

#include <algorithm>

#include "ebb/base/checked.hpp"
#include "ops/params/pooling.hpp"

namespace ebb::cpu {

// The windows of a plane are those of a volume of depth one.
inline ops::Windows as_volume(ops::Windows w) {
  if (w.axes == 3) return w;
  for (ops::Spatial* part : {&w.in, &w.out, &w.size, &w.stride, &w.dilation}) {
    *part = {1, (*part)[0], (*part)[1]};
  }
  w.before = {0, w.before[0], w.before[1]};
  w.axes = 3;
  return w;
}

// The taps of one window along one axis that lie on data: [first, last), tap t at start + t *
// dilation.
struct Taps {
  std::int64_t start;
  std::int64_t first;
  std::int64_t last;
};

inline Taps taps_of(const ops::Windows& w, std::size_t axis, std::int64_t out) {
  const std::int64_t dilation = w.dilation[axis];
  const std::int64_t start = out * w.stride[axis] - w.before[axis];
  const std::int64_t first = start < 0 ? (-start + dilation - 1) / dilation : 0;
  const std::int64_t room = w.in[axis] - start;
  const std::int64_t last = room <= 0 ? 0 : std::min(w.size[axis], (room - 1) / dilation + 1);
  return {start, first, std::max(first, last)};
}

// The windows of one image. visit(out, in, tap) for each tap on data: `out` and `in` are positions
// (pixels, not elements) in the image of results and in that of data, `tap` one in the filter.
// begin(out) comes before the taps of a window, end(out, taps) after them.
template <typename Begin, typename Visit, typename End>
void visit_rows(const ops::Windows& w, std::int64_t first_row, std::int64_t last_row, Begin begin,
                Visit visit, End end) {
  for (std::int64_t row = first_row; row < last_row; ++row) {
    const Taps z = taps_of(w, 0, row / w.out[1]);
    const Taps y = taps_of(w, 1, row % w.out[1]);
    for (std::int64_t column = 0; column < w.out[2]; ++column) {
      const Taps x = taps_of(w, 2, column);
      const std::int64_t out = row * w.out[2] + column;
      begin(out);
      for (std::int64_t i = z.first; i < z.last; ++i) {
        const std::int64_t plane = (z.start + i * w.dilation[0]) * w.in[1];
        for (std::int64_t j = y.first; j < y.last; ++j) {
          const std::int64_t line = (plane + y.start + j * w.dilation[1]) * w.in[2];
          for (std::int64_t k = x.first; k < x.last; ++k) {
            visit(out, line + x.start + k * w.dilation[2], (i * w.size[1] + j) * w.size[2] + k);
          }
        }
      }
      end(out, (z.last - z.first) * (y.last - y.first) * (x.last - x.first));
    }
  }
}

inline std::int64_t volume(const ops::Spatial& extents) {
  return saturating_mul(saturating_mul(extents[0], extents[1]), extents[2]);
}

// How many pieces of so much work each a thread takes at least.
inline std::int64_t grain_of(std::int64_t work) {
  constexpr std::int64_t kWork = 32 * 1024;
  return kWork / std::max<std::int64_t>(work, 1) + 1;
}

}  // namespace ebb::cpu
