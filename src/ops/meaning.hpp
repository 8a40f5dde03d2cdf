// What each operation means: by id, the function that checks a call and makes its outputs.
#pragma once

#include <array>

#include "ops/op_call.hpp"

namespace ebb::ops {

using Meaning = void (*)(OpCall&);

class MeaningTable {
 public:
  void set(OpId id, Meaning meaning) noexcept { meanings_[id] = meaning; }
  // Null: not written yet.
  Meaning operator[](OpId id) const noexcept { return meanings_[id]; }

 private:
  std::array<Meaning, kOpIdLimit> meanings_{};
};

const MeaningTable& meanings() noexcept;

}  // namespace ebb::ops
