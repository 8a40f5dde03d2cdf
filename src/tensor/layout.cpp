#include "ebb/tensor/layout.hpp"

#include <atomic>
#include <cstring>

#include "ebb/base/checked.hpp"
#include "ebb/memory/device_link.hpp"
#include "ebb/tensor/context.hpp"

namespace ebb {
namespace {

// arithmetic of this file: steps between elements that exist, within one storage.

// One element at a time, the last axis fastest.
void pack_plainly(const Operand& from, std::byte* to) {
  const std::size_t size = size_of(from.dtype);
  const std::span<const std::int64_t> dims = from.shape.dims();
  Strides at{};
  const std::byte* element = from.data;
  for (std::uint64_t left = from.shape.elements(); left > 0; --left, to += size) {
    std::memcpy(to, element, size);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      const std::int64_t step = from.strides[axis] * static_cast<std::int64_t>(size);
      element += step;
      if (++at[axis] < dims[axis]) break;
      element -= dims[axis] * step;
      at[axis] = 0;
    }
  }
}

constinit std::atomic<Pack> strided_pack{pack_plainly};

}  // namespace

Strides dense_strides(const Shape& shape) noexcept {
  Strides strides{};
  std::int64_t step = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    strides[i] = step;
    step = saturating_mul(step, shape.dims()[i]);
  }
  return strides;
}

bool is_dense(const Shape& shape, const Strides& strides) noexcept {
  bool as_dense = true;
  std::int64_t step = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    const std::int64_t dim = shape.dims()[i];
    if (dim == 0) return true;
    as_dense = as_dense && (dim == 1 || strides[i] == step);
    step = saturating_mul(step, dim);
  }
  return as_dense;
}

void pack(const Operand& from, std::byte* to) {
  if (!from.dense) return strided_pack.load(std::memory_order_acquire)(from, to);
  const std::uint64_t bytes = bytes_of(from.shape, size_of(from.dtype));
  if (bytes != 0) std::memcpy(to, from.data, bytes);
}

void pack_on(DeviceLink& link, StreamId stream, const Operand& from, std::byte* to) {
  const std::span<const std::int64_t> dims = from.shape.dims();
  const Strides strides = from.dense ? dense_strides(from.shape) : from.strides;
  link.pack(stream, to, from.data, size_of(from.dtype), dims, {strides.data(), dims.size()});
}

Pack set_pack(Pack pack) noexcept { return strided_pack.exchange(pack, std::memory_order_acq_rel); }

}  // namespace ebb
