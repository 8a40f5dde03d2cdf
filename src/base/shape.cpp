#include "ebb/base/shape.hpp"

#include <fmt/ranges.h>

#include "ebb/base/error.hpp"

namespace ebb {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

// False where it does not fit. A division would take as long as making a small tensor's block.
bool multiply(std::uint64_t& product, std::uint64_t factor) noexcept {
  return !__builtin_mul_overflow(product, factor, &product) && product <= kMost;
}

[[noreturn]] void refuse_size(std::span<const std::int64_t> dims) {
  raise(ErrorKind::kInvalidArgument, "[shape] {} is too large: at most 2^62 bytes",
        dims_to_string(dims));
}

}  // namespace

void Shape::refuse(std::span<const std::int64_t> dims) {
  if (dims.size() > kMaxRank) {
    raise(ErrorKind::kInvalidArgument, "[shape] rank {} was given, at most {} is allowed",
          dims.size(), kMaxRank);
  }
  raise(ErrorKind::kInvalidArgument, "[shape] {} was given, extents of 0 and more are allowed",
        dims_to_string(dims));
}

std::uint64_t Shape::elements() const {
  std::uint64_t product = 1;
  for (const std::int64_t dim : dims()) {
    if (multiply(product, static_cast<std::uint64_t>(dim))) [[likely]]
      continue;
    if (empty()) return 0;
    refuse_size(dims());
  }
  return product;
}

std::string Shape::to_string() const { return dims_to_string(dims()); }

std::uint64_t bytes_of(const Shape& shape, std::size_t element_size) {
  std::uint64_t bytes = shape.elements();
  if (!multiply(bytes, element_size)) refuse_size(shape.dims());
  return bytes;
}

std::string dims_to_string(std::span<const std::int64_t> dims) {
  return fmt::format("[{}]", fmt::join(dims, ","));
}

}  // namespace ebb
