// A recorded program: README.md beside this says what its words mean.
#pragma once

#include <cstdint>
#include <vector>

#include "ebb/ops/table.hpp"
#include "ebb/tensor/tensor.hpp"

namespace ebb::programs {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};  // an optional input that was left out

// What a slot's tensor is like, in each run.
struct Likeness {
  DType dtype = DType::kUnknown;
  Shape shape;
};

// A part of Plan::slots or Plan::attributes.
struct Part {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
};

struct Step {
  ops::OpId op;
  Part attributes;
  Part inputs, results;
  Part ended;  // slots that nobody uses after it
};

struct Constant {
  Slot slot;
  Tensor tensor;
};

struct Plan {
  std::vector<Likeness> likeness;  // by slot
  std::vector<Slot> given;         // inputs, then what was captured
  std::size_t inputs = 0;
  std::vector<Handle> captured;  // as they were named while recording
  std::vector<Constant> constants;
  std::vector<Step> steps;
  std::vector<Slot> slots;  // of the steps
  std::vector<double> attributes;
  std::vector<Slot> outputs;
  std::size_t most_inputs = 0, most_results = 0;  // of a step

  std::span<const Slot> slots_in(Part part) const noexcept {
    return {slots.data() + part.begin, part.count};
  }
  std::span<const double> attributes_in(Part part) const noexcept {
    return {attributes.data() + part.begin, part.count};
  }
};

}  // namespace ebb::programs
