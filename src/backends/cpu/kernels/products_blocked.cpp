// Products of float32 matrices, by blocks.
#include <algorithm>

#include "backends/cpu/kernels/blocks.hpp"
#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/kernels/products.hpp"
#include "backends/cpu/parallel.hpp"
#include "ebb/base/checked.hpp"

namespace ebb::cpu {
namespace {

using blocks::Index;
using ops::OpCall;
using ops::Product;

// All right-hand matrices, packed one after the other.
const float* packed(OpCall& call, const Product& p) {
  const Index all = matrices(p.b_batch, p.batch_axes());
  const Index one = checked_mul(p.inner, blocks::rounded(p.columns));
  auto* to = call.workspace<float>(static_cast<std::uint64_t>(checked_mul(all, one)));
  const auto* from = call.in<float>(1);
  const Index row = p.transpose_b ? 1 : p.columns;
  const Index column = p.transpose_b ? p.inner : 1;
  for (Index i = 0; i < all; ++i) {
    blocks::pack_together({.part = {from + i * p.inner * p.columns, row, column},
                           .first = 0,
                           .rows = p.inner,
                           .inner = p.inner,
                           .columns = p.columns,
                           .to = to + i * one});
  }
  return to;
}

// How the result's matrices are shared out: tiles of rows, and columns too where tiles are few.
struct Sharing {
  Index tiles;    // of a matrix
  Index columns;  // of a part
  Index parts;    // of a tile

  Sharing(const Product& p, Index matrices, Index wanted)
      : tiles((p.rows + blocks::kRows - 1) / blocks::kRows), columns(p.columns), parts(1) {
    if (matrices * tiles >= wanted) return;
    const Index split = (wanted - 1) / (matrices * tiles) + 1;
    columns = blocks::rounded((p.columns + split - 1) / split);
    parts = (p.columns + columns - 1) / columns;
  }
};

void multiply_all(OpCall& call, const Product& p) {
  const auto* left = call.in<float>(0);
  const float* right = packed(call, p);
  auto* out = call.out<float>(0);
  const Index count = matrices(p.batch, p.batch_axes());
  const double flops = 2.0 * static_cast<double>(p.inner) * static_cast<double>(p.columns);
  const bool worth = blocks::are_worth_sharing(flops * static_cast<double>(count * p.rows));
  const Sharing share(p, count, worth ? 4 * team_size() : 1);
  const Index one = p.inner * blocks::rounded(p.columns);
  const auto part = [&](Index matrix, Index row, Index column) {
    const float* a = left + matrix_index(p, p.a_batch, matrix) * p.rows * p.inner;
    blocks::multiply({.left = {a + row * (p.transpose_a ? 1 : p.inner), p.transpose_a ? 1 : p.inner,
                               p.transpose_a ? p.rows : 1},
                      .right = right + matrix_index(p, p.b_batch, matrix) * one + column * p.inner,
                      .out = out + (matrix * p.rows + row) * p.columns + column,
                      .out_row = p.columns,
                      .rows = std::min(blocks::kRows, p.rows - row),
                      .inner = p.inner,
                      .columns = std::min(share.columns, p.columns - column)});
  };
  const Index per_matrix = share.tiles * share.parts;
  const double part_flops = flops * static_cast<double>(p.rows) / static_cast<double>(per_matrix);
  blocks::share(count * per_matrix, part_flops, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index tile = i % per_matrix;
      part(i / per_matrix, tile / share.parts * blocks::kRows, tile % share.parts * share.columns);
    }
  });
}

}  // namespace

void multiply_floats(OpCall& call) {
  const ops::Epilogue& epilogue = call.params<Product>().epilogue;
  const bool bias = epilogue.bias.given && is_per_column(epilogue.bias, call.output(0).shape);
  const Product product = folded(call.params<Product>());
  if (multiplied_row(call, product, bias)) return;
  multiply_all(call, product);
  if (!epilogue.empty()) apply_epilogue(call, epilogue, false);
}

}  // namespace ebb::cpu
