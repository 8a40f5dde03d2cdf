// NumPy's .npy files:
//
//   Session session;
//   Tensor x = io::load_npy("x.npy");
//   io::save_npy("y.npy", ops::relu(x));
//
// Read: versions 1 to 3, little-endian, in C or Fortran order, of the dtypes that Ebb has. Written:
// what NumPy itself writes, byte for byte. A file that is not well-formed is
// Error(kInvalidArgument); one that cannot be opened or written is Error(kDevice).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "ebb/tensor/tensor.hpp"

namespace ebb::io {

// The tensor is made in the current session.
Tensor load_npy(const std::filesystem::path& path);
// The file's bytes, from memory.
Tensor parse_npy(std::span<const std::byte> file);

// Replaces the file in one step: whoever reads it sees the old or the new one. bfloat16 has no name
// in NumPy and is Error(kUnsupported).
void save_npy(const std::filesystem::path& path, const Tensor& tensor);
std::vector<std::byte> format_npy(const Tensor& tensor);

}  // namespace ebb::io
