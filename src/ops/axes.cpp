#include "ops/axes.hpp"

#include <algorithm>

#include "ebb/base/checked.hpp"

namespace ebb::ops {

std::size_t checked_axis(const OpCall& call, std::int64_t axis, std::size_t rank) {
  const auto most = static_cast<std::int64_t>(rank);
  if (axis < -most || axis >= most) [[unlikely]] {
    call.fail("axis {} was given, {} to {} are allowed for rank {}", axis, -most, most - 1, rank);
  }
  // arithmetic: both are within the rank
  return static_cast<std::size_t>(axis < 0 ? axis + most : axis);
}

Shape broadcast(const OpCall& call, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const std::size_t rank = std::max(a.rank(), b.rank());
  IntList dims;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i + a.rank() < rank ? 1 : a.dims()[i + a.rank() - rank];
    const std::int64_t y = i + b.rank() < rank ? 1 : b.dims()[i + b.rank() - rank];
    if (x != y && x != 1 && y != 1) {
      call.fail("shapes {} and {} were given, they do not broadcast together", a.to_string(),
                b.to_string());
    }
    dims.push_back(x == 1 ? y : x);
  }
  return Shape(dims);
}

std::int64_t extent(const Shape& shape, std::size_t from, std::size_t to) noexcept {
  std::int64_t product = 1;
  for (std::size_t i = from; i < to; ++i) product = saturating_mul(product, shape.dims()[i]);
  return product;
}

std::int64_t elements(const Shape& shape) noexcept { return extent(shape, 0, shape.rank()); }

bool make_if_empty(OpCall& call, DType dtype, const Shape& shape) {
  if (!shape.empty()) return false;
  call.make(dtype, shape);
  call.done();
  return true;
}

void check_positions(const OpCall& call, std::int64_t extent) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  call.check(extent <= kMost,
             "an extent of {} was given, positions are int32: at most {} is allowed", extent,
             kMost);
}

}  // namespace ebb::ops
