#include "ebb/base/shape.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "ebb/base/error.hpp"

namespace ebb {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::span<const std::int64_t> dims) {
  if (b != 0 && a > kMost / b) {
    raise(ErrorKind::kInvalidArgument, "[shape] {} is too large: at most 2^62 bytes",
          dims_to_string(dims));
  }
  return a * b;
}

}  // namespace

Shape::Shape(std::span<const std::int64_t> dims) {
  if (dims.size() > kMaxRank) {
    raise(ErrorKind::kInvalidArgument, "[shape] rank {} was given, at most {} is allowed",
          dims.size(), kMaxRank);
  }
  for (const std::int64_t dim : dims) {
    if (dim < 0) {
      raise(ErrorKind::kInvalidArgument, "[shape] {} has a negative extent", dims_to_string(dims));
    }
    dims_[rank_++] = dim;
  }
}

std::uint64_t Shape::elements() const {
  // A zero extent makes the tensor empty, however large the others are.
  if (std::ranges::find(dims(), 0) != dims().end()) return 0;
  std::uint64_t product = 1;
  for (const std::int64_t dim : dims()) {
    product = multiply(product, static_cast<std::uint64_t>(dim), dims());
  }
  return product;
}

std::string Shape::to_string() const { return dims_to_string(dims()); }

bool operator==(const Shape& a, const Shape& b) noexcept {
  return std::ranges::equal(a.dims(), b.dims());
}

std::uint64_t bytes_of(const Shape& shape, std::size_t element_size) {
  return multiply(shape.elements(), element_size, shape.dims());
}

std::string dims_to_string(std::span<const std::int64_t> dims) {
  return fmt::format("[{}]", fmt::join(dims, ","));
}

}  // namespace ebb
