// NumPy's .npy files, one tensor each.
//
//   save_npy("weights.npy", w);
//   Tensor again = load_npy("weights.npy");   // in the current Session
#pragma once

#include <string>

#include "ebb/ops/session.hpp"

namespace ebb {

// Format versions 1 to 3, little-endian, C order or Fortran order. Throws Error(kDevice) where the
// file cannot be read, Error(kInvalidArgument) where it is not such a file, both with its path.
Tensor load_npy(const std::string& path);

// Written beside `path` and renamed, so that nobody ever sees half a file. NumPy has no bfloat16.
void save_npy(const std::string& path, const Tensor& tensor);

}  // namespace ebb
