// What the meaning of counting operations works out for their kernels.
#pragma once

#include <cstdint>

namespace ebb::ops {

// Rows of numbers; how often each of [0, size) is in a row.
struct BincountWalk {
  std::int64_t rows = 1;
  std::int64_t length = 0;
  std::int64_t size = 0;
  bool weighted = false;
  bool binary = false;  // whether, not how often
};

struct SegmentSumWalk {
  std::int64_t ids = 0;
  std::int64_t length = 0;  // elements for each id
  std::int64_t segments = 0;
};

}  // namespace ebb::ops
