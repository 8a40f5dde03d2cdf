// The head of a .npy file: b"\x93NUMPY", a version, a length, and a Python dictionary with the keys
// descr, fortran_order and shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ebb/base/dtype.hpp"
#include "ebb/base/shape.hpp"
#include "io/file.hpp"

namespace ebb::io {

struct NpyHeader {
  DType dtype = DType::kUnknown;
  bool fortran_order = false;
  Shape shape{};
  std::size_t data_at = 0;  // where the elements begin
};

// Throws Error(kInvalidArgument), Error(kUnsupported) for a dtype that Ebb does not have.
NpyHeader parse_npy_header(Source& file);
// As NumPy writes it: version 1.0, padded so that the elements begin at a multiple of 64.
std::string format_npy_header(DType dtype, const Shape& shape);

}  // namespace ebb::io
