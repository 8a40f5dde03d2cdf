// Blocks of space that become batches, and back.
#include "ebb/base/checked.hpp"
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

// From one block to the next, for each axis that has them: the last goes by `step`.
IntList steps_of_blocks(const IntList& block, std::int64_t step) {
  IntList steps(block);
  for (std::size_t i = block.size(); i-- > 0; step = checked_mul(step, block[i])) steps[i] = step;
  return steps;
}

// [blocks, batch, space, rest] to [batch, space x block, rest], then the margins are cut off.
void batch_to_space(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList block = call.integers(attribute_at("BatchToSpaceND", "blockShape"));
  const IntList crops = call.integers(attribute_at("BatchToSpaceND", "crops"));
  check_blocks(call, block, crops);
  const std::size_t spatial = block.size();
  std::int64_t blocks = 1;
  for (const std::int64_t each : block) blocks = checked_mul(blocks, each);
  call.check(x.shape.dims()[0] % blocks == 0, "a batch of {} was given, a multiple of {} is needed",
             x.shape.dims()[0], blocks);
  IntList whole(x.shape.dims()), cut;
  whole[0] /= blocks;
  for (std::size_t i = 0; i < spatial; ++i) whole[i + 1] = checked_mul(whole[i + 1], block[i]);
  cut = whole;
  for (std::size_t i = 0; i < spatial; ++i) {
    cut[i + 1] = checked_sub(whole[i + 1], checked_add(crops[2 * i], crops[2 * i + 1]));
    call.check(cut[i + 1] >= 0, "crops {} and {} were given for an extent of {}", crops[2 * i],
               crops[2 * i + 1], whole[i + 1]);
  }
  const Shape out(cut);
  if (make_if_empty(call, x.dtype, out)) return;
  const auto from = strides_of(x);
  const auto to = dense_strides(Shape(whole));
  TwoMovesParams params{.between = elements(Shape(whole))};
  const IntList block_steps = steps_of_blocks(block, checked_mul(from[0], whole[0]));
  params.first.add(whole[0], from[0], to[0]);
  for (std::size_t i = 0; i < spatial; ++i) {
    params.first.add(x.shape.dims()[i + 1], from[i + 1], checked_mul(to[i + 1], block[i]));
    params.first.add(block[i], block_steps[i], to[i + 1]);
  }
  for (std::size_t i = spatial + 1; i < x.shape.rank(); ++i) {
    params.first.add(x.shape.dims()[i], from[i], to[i]);
  }
  const auto out_steps = dense_strides(out);
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    params.second.add(cut[i], to[i], out_steps[i]);
    if (i >= 1 && i <= spatial) {
      std::int64_t& offset = params.second.from_offset;
      offset = checked_add(offset, checked_mul(crops[2 * (i - 1)], to[i]));
    }
  }
  params.first.simplify();
  params.second.simplify();
  call.make(x.dtype, out);
  call.params(params);
}

// Margins of zeros are added, then [batch, space x block, rest] to [blocks, batch, space, rest].
void space_to_batch(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList block = call.integers(attribute_at("SpaceToBatchND", "blockShape"));
  const IntList paddings = call.integers(attribute_at("SpaceToBatchND", "paddings"));
  check_blocks(call, block, paddings);
  const std::size_t spatial = block.size();
  IntList padded(x.shape.dims()), dims;
  for (std::size_t i = 0; i < spatial; ++i) {
    padded[i + 1] = checked_add(padded[i + 1], checked_add(paddings[2 * i], paddings[2 * i + 1]));
    call.check(padded[i + 1] % block[i] == 0,
               "an extent of {} with its padding was given, a multiple of {} is needed",
               padded[i + 1], block[i]);
  }
  dims = padded;
  for (std::size_t i = 0; i < spatial; ++i) {
    dims[0] = checked_mul(dims[0], block[i]);
    dims[i + 1] /= block[i];
  }
  const Shape between(padded), out(dims);
  if (make_if_empty(call, x.dtype, out)) return;
  const auto from = strides_of(x), mid = dense_strides(between), to = dense_strides(out);
  TwoMovesParams params{.between = elements(between), .fills_between = true};
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    params.first.add(x.shape.dims()[i], from[i], mid[i]);
    if (i >= 1 && i <= spatial) {
      std::int64_t& offset = params.first.to_offset;
      offset = checked_add(offset, checked_mul(paddings[2 * (i - 1)], mid[i]));
    }
  }
  const IntList block_steps = steps_of_blocks(block, checked_mul(to[0], x.shape.dims()[0]));
  params.second.add(x.shape.dims()[0], mid[0], to[0]);
  for (std::size_t i = 0; i < spatial; ++i) {
    params.second.add(dims[i + 1], checked_mul(mid[i + 1], block[i]), to[i + 1]);
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

void add_movement_blocks(MeaningTable& table) {
  table.set(op_id("BatchToSpaceND"), batch_to_space, Strided::kFirst);
  table.set(op_id("SpaceToBatchND"), space_to_batch, Strided::kFirst);
}

}  // namespace ebb::ops
