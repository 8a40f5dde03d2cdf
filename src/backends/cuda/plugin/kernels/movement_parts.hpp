// A tensor and its parts along an axis: joined or cut by one launch where they are small.
#pragma once

#include <cstddef>
#include <span>

#include "backends/cuda/plugin/kernel.hpp"

namespace ebb::cuda {

// A part has `size` bytes of each row of the whole.
struct PartOfRows {
  std::byte* data;
  std::int64_t size;
};

// Rows of `whole` bytes, one after the other, and the parts of each, in order. False: they are better copied one by one.
bool join_parts(cudaStream_t stream, std::byte* to, std::int64_t rows, std::int64_t whole,
                std::span<const PartOfRows> parts);
bool cut_parts(cudaStream_t stream, std::byte* from, std::int64_t rows, std::int64_t whole,
               std::span<const PartOfRows> parts);

}  // namespace ebb::cuda
