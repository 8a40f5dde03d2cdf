// From a file's elements to a tensor.
#pragma once

#include <span>

#include "ebb/tensor/tensor.hpp"

namespace ebb::io {

// In the current session. A bool is 0 or 1 whatever the file's byte is. Pre: `bytes` are as many as
// the shape has.
Tensor make_tensor(DType dtype, const Shape& shape, std::span<const std::byte> bytes);

}  // namespace ebb::io
