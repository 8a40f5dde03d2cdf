// What each operation means: by id, the function that checks a call and makes its outputs.
#pragma once

#include <array>

#include "ops/op_call.hpp"

namespace ebb::ops {

using Meaning = void (*)(OpCall&);

class MeaningTable {
 public:
  struct Row {
    Meaning meaning = nullptr;  // null: not written yet
    Strided strided = Strided::kNone;
  };

  // `strided`: the inputs that the meaning, and the kernel after it, take as they lie. The others
  // are made dense before the meaning sees them.
  void set(OpId id, Meaning meaning, Strided strided = Strided::kNone) noexcept {
    rows_[id] = {meaning, strided};
  }
  const Row& operator[](OpId id) const noexcept { return rows_[id]; }

 private:
  std::array<Row, kOpIdLimit> rows_{};
};

const MeaningTable& meanings() noexcept;

}  // namespace ebb::ops
