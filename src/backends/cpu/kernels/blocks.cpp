#include "backends/cpu/kernels/blocks.hpp"

#include <algorithm>
#include <limits>

#include "backends/cpu/parallel.hpp"
#include "backends/cpu/shift.hpp"
#include "backends/cpu/wake.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/blocks.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for each target.
#include <hwy/highway.h>

#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu::HWY_NAMESPACE {
namespace {

using blocks::Finish;
using blocks::Index;
using blocks::Packing;
using blocks::Tile;

using Lanes = hn::CappedTag<float, blocks::kColumns / 2>;
using Floats = hn::Vec<Lanes>;

// Rows at a time: twelve sums are as many as sixteen registers hold, elsewhere there are thirty-two.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr Index kStrip = 6;
#else
constexpr Index kStrip = 12;
#endif

Index panel_columns() { return 2 * static_cast<Index>(hn::Lanes(Lanes())); }

// One strip of rows and one panel of columns.
struct Strip {
  const float* left;
  Index row;  // steps of `left`
  Index column;
  const float* right;
  Index right_row;  // steps of `right`
  float* out;
  Index out_row;
  Index inner;
  Index columns;
  bool add;
  const Finish* finish;  // null: later, or there is none
  const float* bias;     // of the panel; null: there is none
  const float* ahead;    // what is fetched meanwhile: a little in each turn
  Index ahead_step;
};

HWY_INLINE void store_half(const Strip& s, Floats sum, float* to, const float* bias,
                           Index columns) {
  const Lanes d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  if (HWY_LIKELY(columns >= lanes)) {
    if (s.add) sum = hn::Add(hn::LoadU(d, to), sum);
    if (bias != nullptr) sum = hn::Add(sum, hn::LoadU(d, bias));
    hn::StoreU(s.finish != nullptr ? Within(d, s.finish->limits, sum) : sum, d, to);
  } else if (columns > 0) {
    const auto some = static_cast<std::size_t>(columns);
    if (s.add) sum = hn::Add(LoadSome(d, to, some), sum);
    if (bias != nullptr) sum = hn::Add(sum, LoadSome(d, bias, some));
    StoreSome(s.finish != nullptr ? Within(d, s.finish->limits, sum) : sum, d, to, some);
  }
}

HWY_INLINE void store_row(const Strip& s, Index row, Floats first, Floats second) {
  const auto lanes = static_cast<Index>(hn::Lanes(Lanes()));
  float* to = s.out + row * s.out_row;
  store_half(s, first, to, s.bias, s.columns);
  store_half(s, second, to + lanes, s.bias == nullptr ? nullptr : s.bias + lanes,
             s.columns - lanes);
}

// Vectors of unknown length cannot be elements of an array, so each sum has a name.
template <int kCount>
void multiply_strip(const Strip& s) {
  const Lanes d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Floats a0 = hn::Zero(d), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0;
  Floats e0 = a0, e1 = a0, f0 = a0, f1 = a0, g0 = a0, g1 = a0;
  Floats h0 = a0, h1 = a0, l0 = a0, l1 = a0, m0 = a0, m1 = a0;
  Floats n0 = a0, n1 = a0, p0 = a0, p1 = a0, q0 = a0, q1 = a0;
  const float* left = s.left;
  const float* right = s.right;
  const float* ahead = s.ahead;
  const Index row = s.row;
  for (Index k = 0; k < s.inner; ++k, left += s.column, right += s.right_row) {
    __builtin_prefetch(ahead, 0, 2);  // into the second-level cache
    ahead += s.ahead_step;
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
    if constexpr (kCount > 6) add(6, h0, h1);
    if constexpr (kCount > 7) add(7, l0, l1);
    if constexpr (kCount > 8) add(8, m0, m1);
    if constexpr (kCount > 9) add(9, n0, n1);
    if constexpr (kCount > 10) add(10, p0, p1);
    if constexpr (kCount > 11) add(11, q0, q1);
  }
  store_row(s, 0, a0, a1);
  if constexpr (kCount > 1) store_row(s, 1, b0, b1);
  if constexpr (kCount > 2) store_row(s, 2, c0, c1);
  if constexpr (kCount > 3) store_row(s, 3, e0, e1);
  if constexpr (kCount > 4) store_row(s, 4, f0, f1);
  if constexpr (kCount > 5) store_row(s, 5, g0, g1);
  if constexpr (kCount > 6) store_row(s, 6, h0, h1);
  if constexpr (kCount > 7) store_row(s, 7, l0, l1);
  if constexpr (kCount > 8) store_row(s, 8, m0, m1);
  if constexpr (kCount > 9) store_row(s, 9, n0, n1);
  if constexpr (kCount > 10) store_row(s, 10, p0, p1);
  if constexpr (kCount > 11) store_row(s, 11, q0, q1);
}

template <int kCount>
void multiply_rows(const Strip& s, Index rows) {
  if constexpr (kCount > 1) {
    if (rows < kCount) return multiply_rows<kCount - 1>(s, rows);
  }
  multiply_strip<kCount>(s);
}

Index strips_of(Index rows) { return (rows + kStrip - 1) / kStrip; }

// In strips of nearly as many rows each: a strip of a few takes as long as one of many.
void multiply_panel(Strip s, Index rows) {
  for (Index strips = strips_of(rows); strips > 0; --strips) {
    const Index here = (rows + strips - 1) / strips;
    multiply_rows<kStrip>(s, here);
    s.left += here * s.row;
    s.out += here * s.out_row;
    s.ahead += s.inner * s.ahead_step;
    rows -= here;
  }
}

// Meanwhile each strip fetches its share of what is next: the panel that comes next, which may be far away where weights
// are read once in a run, or what the caller says.
void multiply_tile(const Tile& t) {
  const Index panel = panel_columns();
  const bool packed = t.right_row == 0;
  const Index strips = strips_of(t.rows);
  const Index turns = strips * ((t.columns + panel - 1) / panel) * t.inner;
  if (turns == 0) return;
  const Index step = (t.next != nullptr ? t.next_floats / turns : panel / strips) + 1;
  Index fetched = 0;  // of what the caller says
  for (Index k = 0; k < t.inner; k += blocks::kBlock) {
    const Finish* finish = k + blocks::kBlock < t.inner ? nullptr : t.finish;
    const float* bias = finish == nullptr ? nullptr : finish->bias;
    for (Index j = 0; j < t.columns; j += panel) {
      const float* right = t.right + (packed ? j * t.inner + k * panel : k * t.right_row + j);
      const bool is_there = t.next != nullptr || (packed && j + panel < t.columns);
      const Index inner = std::min(blocks::kBlock, t.inner - k);
      multiply_panel({.left = t.left.at + k * t.left.column,
                      .row = t.left.row,
                      .column = t.left.column,
                      .right = right,
                      .right_row = packed ? panel : t.right_row,
                      .out = t.out + j,
                      .out_row = t.out_row,
                      .inner = inner,
                      .columns = std::min(panel, t.columns - j),
                      .add = t.add || k > 0,
                      .finish = finish,
                      .bias = bias == nullptr ? nullptr : bias + j,
                      .ahead = t.next != nullptr ? t.next + fetched
                               : is_there        ? right + panel * t.inner
                                                 : right,
                      .ahead_step = is_there ? step : 0},
                     t.rows);
      fetched += strips * inner * step;
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
      if (p.part.column == 1) {
        std::copy(from, from + some, to);
      } else {
        for (Index i = 0; i < some; ++i) to[i] = from[i * p.part.column];
      }
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
HWY_EXPORT(panel_columns);

void blocks::multiply(const Tile& tile) { HWY_DYNAMIC_DISPATCH(multiply_tile)(tile); }
void blocks::pack(const Packing& packing) { HWY_DYNAMIC_DISPATCH(pack_panels)(packing); }
blocks::Index blocks::panel_columns() { return HWY_DYNAMIC_DISPATCH(panel_columns)(); }

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

namespace {

// The result in parts that are as large as each other: one for each thread.
struct Shares {
  using Index = blocks::Index;
  Index rows, columns;  // of a part
  Index down, across;   // parts

  Shares(const blocks::Tile& whole, Index threads) {
    double least = std::numeric_limits<double>::infinity();
    for (Index split = 1; split <= threads; ++split) {
      if (threads % split != 0) continue;
      const Index high = parts(whole.rows, threads / split);
      const Index wide = blocks::rounded(parts(whole.columns, split));
      // What is read once costs as much as some products do.
      const double cost = static_cast<double>(high) * static_cast<double>(wide) +
                          16.0 * static_cast<double>(high + wide);
      if (cost >= least) continue;
      least = cost;
      rows = high;
      columns = wide;
    }
    down = parts(whole.rows, rows);
    across = parts(whole.columns, columns);
  }
  static Index parts(Index all, Index one) noexcept { return (all + one - 1) / one; }
};

// Rows [row, row + rows) and columns [column, column + columns) of a product, in tiles.
void multiply_part(const blocks::Tile& whole, const Shares& shares, blocks::Index row,
                   blocks::Index column) {
  using blocks::Index;
  const Index end = std::min(row + shares.rows, whole.rows);
  const Index tiles = Shares::parts(end - row, blocks::kRows);
  const Index rows = Shares::parts(end - row, tiles);  // as many in each
  blocks::Finish finish;
  blocks::Tile tile = whole;
  tile.right += column * (whole.right_row != 0 ? 1 : whole.inner);
  tile.columns = std::min(shares.columns, whole.columns - column);
  if (whole.finish != nullptr) {
    finish = *whole.finish;
    if (finish.bias != nullptr) finish.bias += column;
    tile.finish = &finish;
  }
  for (; row < end; row += rows) {
    tile.left.at = whole.left.at + row * whole.left.row;
    tile.out = whole.out + row * whole.out_row + column;
    tile.rows = std::min(rows, end - row);
    blocks::multiply(tile);
  }
}

}  // namespace

// Results do not depend on it. A team that is woken for one product is awake for those that follow at once, so it may be
// worth somewhat less than what its waking takes.
double blocks::part_flops() noexcept {
  constexpr double kInAMicrosecond = 1e5, kMost = 4e6;
  return std::clamp(kInAMicrosecond * wake_microseconds(), kLeastPartFlops, kMost);
}

bool blocks::are_worth_sharing(double flops) noexcept {
  return flops >= 2 * kLeastPartFlops && flops >= 2 * part_flops();  // which takes 1 ms to measure
}

blocks::Index blocks::parts_for(double flops) noexcept {
  if (!Shift::has_crew()) return are_worth_sharing(flops) ? team_size() : 1;
  if (flops < 2 * kCrewPartFlops) return 1;
  // Two for each thread, so that a helper that comes late finds some.
  return flops >= 2 * kCrewPartFlops * team_size() ? 2 * team_size() : team_size();
}

void blocks::share(Index count, double flops, FunctionRef<void(Index, Index)> body) {
  if (!are_worth_sharing(flops * static_cast<double>(count))) return body(0, count);
  parallel_for(count, static_cast<Index>(part_flops() / flops) + 1, body);
}

void blocks::multiply_together(const Tile& whole) {
  const double flops = 2.0 * static_cast<double>(whole.rows) * static_cast<double>(whole.inner) *
                       static_cast<double>(whole.columns);
  const Shares shares(whole, parts_for(flops));
  parallel_for(shares.down * shares.across, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      multiply_part(whole, shares, i / shares.across * shares.rows,
                    i % shares.across * shares.columns);
    }
  });
}

}  // namespace ebb::cpu
#endif
