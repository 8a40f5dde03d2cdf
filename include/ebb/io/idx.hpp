// IDX files, in which MNIST and its like are published:
//
//   Session session;
//   Tensor images = io::load_idx("train-images-idx3-ubyte");   // uint8 [60000,28,28]
//
// Two zeros, a dtype, the number of axes, an extent of 32 bits for each, the elements; all of it
// big-endian. A file that is not well-formed is Error(kInvalidArgument); one that cannot be opened is
// Error(kDevice); 16-bit integers, which Ebb does not have, are Error(kUnsupported).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "ebb/tensor/tensor.hpp"

namespace ebb::io {

// The tensor is made in the current session.
Tensor load_idx(const std::filesystem::path& path);
// The file's bytes, from memory.
Tensor parse_idx(std::span<const std::byte> file);

}  // namespace ebb::io
