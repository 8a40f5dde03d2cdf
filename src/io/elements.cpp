#include "io/elements.hpp"

#include <algorithm>
#include <vector>

#include "ebb/ops/session.hpp"

namespace ebb::io {

Tensor make_tensor(DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
  const auto more_than_one = [](std::byte each) { return each > std::byte{1}; };
  if (dtype != DType::kBool || std::ranges::none_of(bytes, more_than_one)) {
    return ebb::detail::tensor_of(dtype, shape, bytes);
  }
  std::vector<std::byte> booleans(bytes.begin(), bytes.end());
  std::ranges::replace_if(booleans, more_than_one, std::byte{1});
  return ebb::detail::tensor_of(dtype, shape, booleans);
}

}  // namespace ebb::io
