// What each operation means: by id, the function that checks a call and makes its outputs.
#pragma once

#include <array>

#include "ops/op_call.hpp"
#include "ops/params/program_ops.hpp"

namespace ebb::ops {

using Meaning = void (*)(OpCall&);

// Whether a kernel is run for results that have no elements as well, as one must be that refuses what
// it finds in the data.
enum class Data : std::uint8_t { kTaken, kChecked };

class MeaningTable {
 public:
  struct Row {
    Meaning meaning = nullptr;  // null: not written yet
    Strided strided = Strided::kNone;
    Data data = Data::kTaken;
  };

  // `strided`: the inputs that the meaning, and the kernel after it, take as they lie. The others
  // are made dense before the meaning sees them.
  void set(OpId id, Meaning meaning, Strided strided = Strided::kNone,
           Data data = Data::kTaken) noexcept {
    rows_[id] = {meaning, strided, data};
  }
  const Row& operator[](OpId id) const noexcept { return rows_[id]; }

 private:
  std::array<Row, kProgramOpLimit> rows_{};
};

const MeaningTable& meanings() noexcept;

}  // namespace ebb::ops
