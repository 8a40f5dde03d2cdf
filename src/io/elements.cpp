#include "io/elements.hpp"

#include <algorithm>
#include <vector>

#include "ebb/ops/session.hpp"

namespace ebb::io {

Tensor make_tensor(DType dtype, const Shape& shape) {
  const ops::RunPlace place = Session::current().place();
  return Tensor(place.context, place.context.make({.device = &place.device,
                                                   .dtype = dtype,
                                                   .shape = shape,
                                                   .region = place.region,
                                                   .stream = place.stream}));
}

void fill(const Tensor& tensor, std::span<const std::byte> bytes) {
  const auto more_than_one = [](std::byte each) { return each > std::byte{1}; };
  if (tensor.dtype() != DType::kBool || std::ranges::none_of(bytes, more_than_one)) {
    return ops::write(tensor.context(), tensor.handle(), bytes);
  }
  std::vector<std::byte> booleans(bytes.begin(), bytes.end());
  std::ranges::replace_if(booleans, more_than_one, std::byte{1});
  ops::write(tensor.context(), tensor.handle(), booleans);
}

}  // namespace ebb::io
