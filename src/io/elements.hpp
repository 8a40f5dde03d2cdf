// From a file's elements to a tensor: made first, so that a budget refuses it before its elements
// are read, then filled.
#pragma once

#include <span>

#include "ebb/tensor/tensor.hpp"

namespace ebb::io {

// In the current session, its elements not set yet.
Tensor make_tensor(DType dtype, const Shape& shape);

// A bool is 0 or 1 whatever the file's byte is. Pre: `bytes` are as many as the tensor has.
void fill(const Tensor& tensor, std::span<const std::byte> bytes);

}  // namespace ebb::io
