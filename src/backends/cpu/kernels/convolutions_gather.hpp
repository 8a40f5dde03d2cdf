// Convolutions as products: the numbers under each window as a row, beside a matrix of filters.
#pragma once

#include <cstdint>

#include "ops/params/windows.hpp"

namespace ebb::cpu {

// Data as rows, one for each place of a result: [taps][channels], zeros where a tap is on no data.
// The places are the forward result's; or the data's, each with those of the forward result that it
// goes into (`back`).
class Gather {
 public:
  // `windows` is a volume's (window_taps.hpp), `from` [batch, extents..., channels].
  Gather(const ops::Windows& windows, const float* from, std::int64_t channels, bool back)
      : windows_(windows), from_(from), channels_(channels), back_(back) {}

  std::int64_t taps() const noexcept;
  std::int64_t columns() const noexcept { return taps() * channels_; }
  // Places of all images.
  std::int64_t rows() const noexcept;
  // Whether the rows are the data as it lies there.
  bool is_identity() const noexcept;
  const float* data() const noexcept { return from_; }

  // Columns [first, last) of rows [begin, end), dense.
  void rows_to(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last,
               float* to) const;

 private:
  const ops::Spatial& places() const noexcept { return back_ ? windows_.in : windows_.out; }
  const ops::Spatial& sources() const noexcept { return back_ ? windows_.out : windows_.in; }
  std::int64_t source(std::size_t axis, std::int64_t place, std::int64_t tap) const noexcept;
  const float* pixel(std::int64_t image, const ops::Spatial& place,
                     std::int64_t tap) const noexcept;

  ops::Windows windows_;
  const float* from_;
  std::int64_t channels_;
  bool back_;
};

}  // namespace ebb::cpu
