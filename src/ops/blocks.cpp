// Blocks of space that become batches, and back.
#include <limits>

#include "ops/axes.hpp"
#include "ops/copy_plan.hpp"
#include "ops/families.hpp"
#include "ops/params/movement.hpp"

namespace ebb::ops {
namespace {

void check_blocks(OpCall& call, const IntList& block, const IntList& pairs) {
  const Shape& shape = call.input(0).shape;
  call.check(!block.empty() && block.size() < shape.rank() && pairs.size() == 2 * block.size(),
             "{} blocks and {} margins were given for rank {}", block.size(), pairs.size(),
             shape.rank());
  for (const std::int64_t each : block) {
    call.check(each >= 1, "block {} was given, at least 1 is allowed", each);
    call.check(each <= kMostStep, "block {} was given, at most {} is allowed", each, kMostStep);
  }
  for (const std::int64_t each : pairs) {
    call.check(each >= 0, "a margin of {} was given, at least 0 is allowed", each);
    call.check(each <= kMostStep, "a margin of {} was given, at most {} is allowed", each,
               kMostStep);
  }
}

// [blocks, batch, space, rest] to [batch, space x block, rest], then the margins are cut off.
void batch_to_space(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList block = call.integers(0), crops = call.integers(1);
  check_blocks(call, block, crops);
  const std::size_t spatial = block.size();
  std::int64_t blocks = 1;
  bool fits = true;
  for (const std::int64_t each : block) {
    fits = fits && !__builtin_mul_overflow(blocks, each, &blocks);
  }
  call.check(fits && x.shape.dims()[0] % blocks == 0,
             "a batch of {} was given, a multiple of {} is needed", x.shape.dims()[0],
             fits ? blocks : std::numeric_limits<std::int64_t>::max());
  IntList whole(x.shape.dims()), cut;
  whole[0] /= blocks;
  for (std::size_t i = 0; i < spatial; ++i) whole[i + 1] *= block[i];
  cut = whole;
  for (std::size_t i = 0; i < spatial; ++i) {
    cut[i + 1] -= crops[2 * i] + crops[2 * i + 1];
    call.check(cut[i + 1] >= 0, "crops {} and {} were given for an extent of {}", crops[2 * i],
               crops[2 * i + 1], whole[i + 1]);
  }
  const auto from = strides_of(x);
  const auto to = dense_strides(Shape(whole));
  TwoMovesParams params{.between = elements(Shape(whole))};
  std::int64_t block_step = from[0] * whole[0];
  IntList block_steps(block);
  for (std::size_t i = spatial; i-- > 0;) {
    block_steps[i] = block_step;
    block_step *= block[i];
  }
  params.first.add(whole[0], from[0], to[0]);
  for (std::size_t i = 0; i < spatial; ++i) {
    params.first.add(x.shape.dims()[i + 1], from[i + 1], to[i + 1] * block[i]);
    params.first.add(block[i], block_steps[i], to[i + 1]);
  }
  for (std::size_t i = spatial + 1; i < x.shape.rank(); ++i) {
    params.first.add(x.shape.dims()[i], from[i], to[i]);
  }
  const Shape out(cut);
  const auto out_steps = dense_strides(out);
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    params.second.add(cut[i], to[i], out_steps[i]);
    if (i >= 1 && i <= spatial) params.second.from_offset += crops[2 * (i - 1)] * to[i];
  }
  params.first.simplify();
  params.second.simplify();
  call.make(x.dtype, out);
  call.params(params);
}

// Margins of zeros are added, then [batch, space x block, rest] to [blocks, batch, space, rest].
void space_to_batch(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList block = call.integers(0), paddings = call.integers(1);
  check_blocks(call, block, paddings);
  const std::size_t spatial = block.size();
  IntList padded(x.shape.dims()), dims;
  for (std::size_t i = 0; i < spatial; ++i) {
    padded[i + 1] += paddings[2 * i] + paddings[2 * i + 1];
    call.check(padded[i + 1] % block[i] == 0,
               "an extent of {} with its padding was given, a multiple of {} is needed",
               padded[i + 1], block[i]);
  }
  dims = padded;
  for (std::size_t i = 0; i < spatial; ++i) {
    dims[0] *= block[i];
    dims[i + 1] /= block[i];
  }
  const Shape between(padded), out(dims);
  const auto from = strides_of(x), mid = dense_strides(between), to = dense_strides(out);
  TwoMovesParams params{.between = elements(between), .fills_between = true};
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    params.first.add(x.shape.dims()[i], from[i], mid[i]);
    if (i >= 1 && i <= spatial) params.first.to_offset += paddings[2 * (i - 1)] * mid[i];
  }
  std::int64_t block_step = to[0] * x.shape.dims()[0];
  IntList block_steps(block);
  for (std::size_t i = spatial; i-- > 0;) {
    block_steps[i] = block_step;
    block_step *= block[i];
  }
  params.second.add(x.shape.dims()[0], mid[0], to[0]);
  for (std::size_t i = 0; i < spatial; ++i) {
    params.second.add(dims[i + 1], mid[i + 1] * block[i], to[i + 1]);
    params.second.add(block[i], mid[i + 1], block_steps[i]);
  }
  for (std::size_t i = spatial + 1; i < x.shape.rank(); ++i) {
    params.second.add(dims[i], mid[i], to[i]);
  }
  params.first.simplify();
  params.second.simplify();
  call.make(x.dtype, out);
  call.params(params);
}

}  // namespace

void add_blocks(MeaningTable& table) {
  table.set(op_id("BatchToSpaceND"), batch_to_space, Strided::kFirst);
  table.set(op_id("SpaceToBatchND"), space_to_batch, Strided::kFirst);
}

}  // namespace ebb::ops
