// Rows of operands that may be strided, along a dense output.
//
// A row whose elements lie one after the other is taken where it is. Others are gathered into a
// buffer that stays in the first cache, so that the arithmetic is on dense rows always. Where an
// operand lies transposed, sixteen rows are gathered at once: they share the cache lines that are
// read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/parallel.hpp"
#include "ops/elementwise.hpp"

namespace ebb::cpu {

// A part of one row: the operands' first elements, and whether each goes on (1) or repeats (0).
template <std::size_t K>
struct RowPart {
  std::array<const std::byte*, K> from;
  std::array<std::int64_t, K> step;
  std::int64_t at;  // its first element in the output
  std::int64_t count;
};

// `to` becomes [rows, columns], dense, of elements `row_step` and `column_step` apart.
template <typename T>
void gather_rows(const T* from, std::int64_t row_step, std::int64_t column_step, std::int64_t rows,
                 std::int64_t columns, T* to) {
  if (row_step == 1) {
    for (std::int64_t c = 0; c < columns; ++c, from += column_step, ++to) {
      for (std::int64_t r = 0; r < rows; ++r) to[r * columns] = from[r];
    }
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r, from += row_step, to += columns) {
    if (column_step == 2) {  // parts of complex numbers; the compiler has vectors for it
      for (std::int64_t c = 0; c < columns; ++c) to[c] = from[2 * c];
    } else {
      for (std::int64_t c = 0; c < columns; ++c) to[c] = from[c * column_step];
    }
  }
}

template <std::size_t K>
class StridedRows {
 public:
  using Data = std::array<const std::byte*, K>;
  using Sizes = std::array<std::int64_t, K>;

  // `repeats`: rows may be given with a step of 0. Sizes are those of the operands' elements.
  StridedRows(const ops::Loops<K>& loops, const Data& data, const Sizes& sizes, bool repeats)
      : loops_(loops), data_(data), sizes_(sizes), inner_(loops.axes - 1) {
    bool any = false;
    for (std::size_t k = 0; k < K; ++k) {
      const std::int64_t step = loops.step[k][inner_];
      gathers_[k] = step != 1 && !(repeats && step == 0);
      any = any || gathers_[k];
      for (std::size_t i = 0; gathers_[k] && i < inner_; ++i) {
        if (loops.step[k][i] == 1 && loops.extent[i] >= 4) panel_ = i;
      }
    }
    rows_ = panel_ == kNone ? 1 : std::min(kPanelRows, loops.extent[panel_]);
    columns_ = std::min(loops.extent[inner_], any ? kPanel / rows_ : kLongest);
    out_step_[inner_] = 1;
    for (std::size_t i = inner_; i-- > 0;) out_step_[i] = out_step_[i + 1] * loops.extent[i + 1];
    row_chunks_ = panel_ == kNone ? 1 : (loops.extent[panel_] + rows_ - 1) / rows_;
    column_chunks_ = (loops.extent[inner_] + columns_ - 1) / columns_;
    panels_ = row_chunks_ * column_chunks_;
    for (std::size_t i = 0; i < inner_; ++i) {
      if (i != panel_) panels_ *= loops.extent[i];
    }
  }

  // Calls row(part) for all rows, or parts of them, of at least `grain` elements a thread. Pre: the
  // output has elements.
  template <typename Row>
  void run(std::int64_t grain, Row row) const {
    parallel_for(panels_, std::max<std::int64_t>(1, grain / (rows_ * columns_)),
                 [&](std::int64_t begin, std::int64_t end) {
                   alignas(64) std::byte buffers[K][kPanel * kMostBytes];
                   for (std::int64_t i = begin; i < end; ++i) run_panel(i, buffers, row);
                 });
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr std::int64_t kPanel = 2048;  // elements of one operand that are gathered at once
  static constexpr std::int64_t kPanelRows = 16;
  static constexpr std::int64_t kLongest = 64 << 10;  // of a row that lies ready
  static constexpr std::size_t kMostBytes = 8;        // of an element

  template <typename Row>
  void run_panel(std::int64_t index, std::byte (&buffers)[K][kPanel * kMostBytes], Row row) const {
    const std::int64_t column = index % column_chunks_ * columns_;
    index /= column_chunks_;
    const std::int64_t first = index % row_chunks_ * rows_;
    index /= row_chunks_;
    std::array<std::int64_t, K> offset;
    for (std::size_t k = 0; k < K; ++k) {
      offset[k] = column * loops_.step[k][inner_];
      if (panel_ != kNone) offset[k] += first * loops_.step[k][panel_];
    }
    std::int64_t at = column + (panel_ == kNone ? 0 : first * out_step_[panel_]);
    for (std::size_t i = inner_; i-- > 0;) {
      if (i == panel_) continue;
      const std::int64_t position = index % loops_.extent[i];
      index /= loops_.extent[i];
      for (std::size_t k = 0; k < K; ++k) offset[k] += position * loops_.step[k][i];
      at += position * out_step_[i];
    }
    const std::int64_t rows = panel_ == kNone ? 1 : std::min(rows_, loops_.extent[panel_] - first);
    const std::int64_t columns = std::min(columns_, loops_.extent[inner_] - column);
    RowPart<K> part{.from = {}, .step = {}, .at = at, .count = columns};
    std::array<std::int64_t, K> row_bytes;
    for (std::size_t k = 0; k < K; ++k) {
      const std::byte* from = data_[k] + offset[k] * sizes_[k];
      if (gathers_[k]) gather(k, from, rows, columns, buffers[k]);
      part.from[k] = gathers_[k] ? buffers[k] : from;
      part.step[k] = gathers_[k] ? 1 : loops_.step[k][inner_];
      row_bytes[k] = gathers_[k]       ? columns * sizes_[k]
                     : panel_ == kNone ? 0
                                       : loops_.step[k][panel_] * sizes_[k];
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      row(part);
      for (std::size_t k = 0; k < K; ++k) part.from[k] += row_bytes[k];
      if (panel_ != kNone) part.at += out_step_[panel_];
    }
  }

  void gather(std::size_t k, const std::byte* from, std::int64_t rows, std::int64_t columns,
              std::byte* to) const {
    const std::int64_t row_step = panel_ == kNone ? 0 : loops_.step[k][panel_];
    const std::int64_t column_step = loops_.step[k][inner_];
    const auto as = [&]<typename T>(T) {
      gather_rows(reinterpret_cast<const T*>(from), row_step, column_step, rows, columns,
                  reinterpret_cast<T*>(to));
    };
    switch (sizes_[k]) {
      case 1:
        return as(std::uint8_t{});
      case 2:
        return as(std::uint16_t{});
      case 4:
        return as(std::uint32_t{});
      default:
        return as(std::uint64_t{});
    }
  }

  const ops::Loops<K>& loops_;
  const Data data_;
  const Sizes sizes_;
  const std::size_t inner_;
  std::size_t panel_ = kNone;  // the axis of which several rows are gathered at once
  std::array<bool, K> gathers_{};
  std::int64_t rows_ = 1, columns_ = 1;  // of a panel
  std::int64_t row_chunks_ = 1, column_chunks_ = 1, panels_ = 1;
  Strides out_step_{};
};

}  // namespace ebb::cpu
