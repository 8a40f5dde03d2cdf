#include "backends/cpu/kernels/blocks.hpp"

#include <algorithm>

#include "backends/cpu/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/blocks.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for each target.
#include <hwy/highway.h>

#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu::HWY_NAMESPACE {
namespace {

using blocks::Index;
using blocks::Packing;
using blocks::Tile;

using Lanes = hn::CappedTag<float, blocks::kColumns / 2>;
using Floats = hn::Vec<Lanes>;

constexpr Index kStrip = 6;  // rows at a time: twelve sums, as many as sixteen registers hold

HWY_INLINE Index panel_columns() { return 2 * static_cast<Index>(hn::Lanes(Lanes())); }

// One strip of rows and one panel of columns.
struct Strip {
  const float* left;
  Index row;  // steps of `left`
  Index column;
  const float* right;
  float* out;
  Index out_row;
  Index inner;
  Index columns;
  bool add;
};

HWY_INLINE void store_half(const Strip& s, Floats sum, float* to, Index columns) {
  const Lanes d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  if (HWY_LIKELY(columns >= lanes)) {
    hn::StoreU(s.add ? hn::Add(hn::LoadU(d, to), sum) : sum, d, to);
  } else if (columns > 0) {
    const auto some = static_cast<std::size_t>(columns);
    StoreSome(s.add ? hn::Add(LoadSome(d, to, some), sum) : sum, d, to, some);
  }
}

HWY_INLINE void store_row(const Strip& s, Index row, Floats first, Floats second) {
  const auto lanes = static_cast<Index>(hn::Lanes(Lanes()));
  float* to = s.out + row * s.out_row;
  store_half(s, first, to, s.columns);
  store_half(s, second, to + lanes, s.columns - lanes);
}

// Vectors of unknown length cannot be elements of an array, so each sum has a name.
template <int kCount>
void multiply_strip(const Strip& s) {
  const Lanes d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Floats a0 = hn::Zero(d), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0;
  Floats e0 = a0, e1 = a0, f0 = a0, f1 = a0, g0 = a0, g1 = a0;
  const float* left = s.left;
  const float* right = s.right;
  const Index row = s.row;
  for (Index k = 0; k < s.inner; ++k, left += s.column, right += 2 * lanes) {
    const Floats r0 = hn::LoadU(d, right);
    const Floats r1 = hn::LoadU(d, right + lanes);
    const auto add = [&](int i, Floats& x0, Floats& x1) HWY_ATTR {
      const Floats x = hn::Set(d, left[i * row]);
      x0 = hn::MulAdd(x, r0, x0);
      x1 = hn::MulAdd(x, r1, x1);
    };
    add(0, a0, a1);
    if constexpr (kCount > 1) add(1, b0, b1);
    if constexpr (kCount > 2) add(2, c0, c1);
    if constexpr (kCount > 3) add(3, e0, e1);
    if constexpr (kCount > 4) add(4, f0, f1);
    if constexpr (kCount > 5) add(5, g0, g1);
  }
  store_row(s, 0, a0, a1);
  if constexpr (kCount > 1) store_row(s, 1, b0, b1);
  if constexpr (kCount > 2) store_row(s, 2, c0, c1);
  if constexpr (kCount > 3) store_row(s, 3, e0, e1);
  if constexpr (kCount > 4) store_row(s, 4, f0, f1);
  if constexpr (kCount > 5) store_row(s, 5, g0, g1);
}

void multiply_rows(const Strip& s, Index rows) {
  switch (rows) {
    case 1:
      return multiply_strip<1>(s);
    case 2:
      return multiply_strip<2>(s);
    case 3:
      return multiply_strip<3>(s);
    case 4:
      return multiply_strip<4>(s);
    case 5:
      return multiply_strip<5>(s);
    default:
      return multiply_strip<6>(s);
  }
}

void multiply_tile(const Tile& t) {
  const Index panel = panel_columns();
  for (Index k = 0; k < t.inner; k += blocks::kBlock) {
    for (Index j = 0; j < t.columns; j += panel) {
      Strip s{.left = t.left.at + k * t.left.column,
              .row = t.left.row,
              .column = t.left.column,
              .right = t.right + j * t.inner + k * panel,
              .out = t.out + j,
              .out_row = t.out_row,
              .inner = std::min(blocks::kBlock, t.inner - k),
              .columns = std::min(panel, t.columns - j),
              .add = t.add || k > 0};
      for (Index i = 0; i < t.rows; i += kStrip) {
        multiply_rows(s, std::min(kStrip, t.rows - i));
        s.left += kStrip * t.left.row;
        s.out += kStrip * t.out_row;
      }
    }
  }
}

void pack_panels(const Packing& p) {
  const Index panel = panel_columns();
  for (Index j = 0; j < p.columns; j += panel) {
    const Index some = std::min(panel, p.columns - j);
    float* to = p.to + j * p.inner + p.first * panel;
    const float* from = p.part.at + j * p.part.column;
    for (Index k = 0; k < p.rows; ++k, to += panel, from += p.part.row) {
      for (Index i = 0; i < some; ++i) to[i] = from[i * p.part.column];
      std::fill(to + some, to + panel, 0.0F);
    }
  }
}

}  // namespace
}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {

HWY_EXPORT(multiply_tile);
HWY_EXPORT(pack_panels);

void blocks::multiply(const Tile& tile) { HWY_DYNAMIC_DISPATCH(multiply_tile)(tile); }
void blocks::pack(const Packing& packing) { HWY_DYNAMIC_DISPATCH(pack_panels)(packing); }

void blocks::pack_together(const Packing& whole) {
  const Index parts = rounded(whole.columns) / kColumns;
  const Index grain = 32 * 1024 / (kColumns * whole.rows) + 1;
  parallel_for(parts, grain, [&](Index begin, Index end) {
    Packing part = whole;
    part.part.at += begin * kColumns * whole.part.column;
    part.columns = std::min(end * kColumns, whole.columns) - begin * kColumns;
    part.to += begin * kColumns * whole.inner;
    pack(part);
  });
}

}  // namespace ebb::cpu
#endif
