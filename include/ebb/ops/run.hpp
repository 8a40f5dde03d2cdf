// The one generic entry to every operation of ebb/ops/table.hpp:
//
//   OpResult sum;
//   run({.context = context, .device = cpu}, op_id("Add"), {{a, b}}, {}, {&sum, 1});
//
// The results are tensors of the context, in the region that was given. An error leaves nothing
// behind: no result, no reference.
#pragma once

#include <cstdint>
#include <span>

#include "ebb/ops/table.hpp"
#include "ebb/tensor/context.hpp"

namespace ebb::ops {

struct OpResult {
  Handle handle = 0;
  DType dtype = DType::kUnknown;
  Shape shape;
};

struct RunPlace {
  Context context;
  Device& device;
  RegionId region = 0;  // 0: the root
  SiteId site = 0;
  StreamId stream = kDefaultStream;  // of the device: where the work is queued
};

// How many results there are; throws Error(kInvalidArgument) where `results` is too short for them.
std::size_t run(const RunPlace& place, OpId op, std::span<const Handle> inputs,
                std::span<const double> attributes, std::span<OpResult> results);

// Host memory to a tensor and back. `bytes` must be the tensor's.
void write(const Context& context, Handle tensor, std::span<const std::byte> bytes);
void read(const Context& context, Handle tensor, std::span<std::byte> bytes);

// A copy of a tensor on the place's device, wherever the tensor is.
OpResult copy_to(const RunPlace& place, Handle tensor);

}  // namespace ebb::ops
