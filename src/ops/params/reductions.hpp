// What the meaning of reductions and scans works out for their kernels.
#pragma once

#include <cstdint>

#include "ops/params/copy_plan.hpp"

namespace ebb::ops {

// The operand as [outer, count, inner], reduced over `count`. Where the reduced axes are not
// neighbours, `gathers`: the operand is first copied so that they are the last.
struct ReduceParams {
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;
  bool gathers = false;
  CopyPlan plan{};
};

struct ScanParams {
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;
  bool exclusive = false;
  bool reversed = false;
};

}  // namespace ebb::ops
