// What the meaning of sorting operations works out for their kernels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb::ops {

struct TopKParams {
  std::int64_t rows = 0;
  std::int64_t length = 0;  // of a row
  std::int64_t k = 0;
  bool sorted = true;
};

// The operand as [before, axis, after]; slices along the axis are compared as wholes.
struct UniqueParams {
  std::size_t axis = 0;
  std::int64_t before = 1, extent = 0, after = 1;
};

struct SearchParams {
  std::int64_t rows = 0;
  std::int64_t length = 0;  // of a sorted row
  std::int64_t values = 0;  // sought in each row
  bool right = false;
};

}  // namespace ebb::ops
