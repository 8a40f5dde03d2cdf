// A recorded program: README.md beside this says what its words mean.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
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

template <typename T>
Part append(std::vector<T>& all, std::span<const T> more) {
  const Part part{static_cast<std::uint32_t>(all.size()), static_cast<std::uint32_t>(more.size())};
  all.insert(all.end(), more.begin(), more.end());
  return part;
}

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

// Made of variables and captured tensors alone, and kept as long as these are the same.
struct KeptSlot {
  Slot made;  // by Plan::keeping
  Slot used;  // its name in Plan::rest
};

struct Plan {
  std::vector<Likeness> likeness;  // by slot
  std::vector<Slot> given;         // inputs, then what was captured
  std::size_t inputs = 0;
  std::size_t variables = 0;     // the last so many inputs: mostly the same memory
  bool random = false;           // some steps draw random numbers
  bool queued = false;           // recorded on a device that works on its own: fused is for such
  bool graphs = true;            // ProgramOptions::graphs
  std::vector<Handle> captured;  // as they were named while recording
  std::vector<Constant> constants;
  std::vector<Step> steps;
  // The same in fewer steps, for runs that nobody listens to; empty: there are none.
  std::vector<Step> fused;
  // The same once more, for runs that are given the same weights as the one before: `keeping` makes
  // what depends on them alone, `rest` what else there is. Empty: nothing does.
  std::vector<Step> keeping, rest;
  std::vector<KeptSlot> kept;
  std::vector<std::size_t> kept_of;  // the places in `given` that it depends on
  bool overwrite = false;            // ProgramOptions::overwrite
  std::vector<Slot> replaced;        // what the caller replaces after each run, where it is given
  // Where `fused` and `rest` end with an update: overwritten() of it.
  std::vector<std::size_t> over_in_fused, over_in_rest;
  bool share = false;       // ProgramOptions::share and join
  std::vector<Slot> slots;  // of the steps
  std::vector<double> attributes;
  std::vector<Slot> outputs;
  std::size_t most_inputs = 0, most_results = 0;  // of a step

  // Inputs that are new in each run; the tensors that are given after them are often the same.
  std::size_t fresh() const noexcept { return inputs - variables; }
  // By a step of each run: not given, and no constant.
  bool is_made(Slot slot) const noexcept {
    return std::ranges::find(given, slot) == given.end() &&
           std::ranges::find(constants, slot, &Constant::slot) == constants.end();
  }
  std::span<const Slot> slots_in(Part part) const noexcept {
    return {slots.data() + part.begin, part.count};
  }
  std::span<const double> attributes_in(Part part) const noexcept {
    return {attributes.data() + part.begin, part.count};
  }
};

}  // namespace ebb::programs
