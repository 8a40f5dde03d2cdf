// Where the elements of a tensor lie in its storage.
//
// Most tensors are dense: row-major, from a byte offset on. A strided one (a transposed matrix, a
// part of the inner axis, the real parts of complex numbers) has an offset and a stride for each
// axis; it shares its storage with the tensor it was taken from, and nothing is copied.
//
// A strided tensor becomes dense when somebody needs it dense (Context::make_dense): its elements
// are copied to a storage of their own, and the tensor is bound to that one from then on, under the
// context's lock. So the second use costs nothing, and the storage it shared is let go. It never
// goes the other way. Whoever resolved the tensor before holds the old storage and saw the old
// layout; the elements are the same, so neither can tell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ebb/base/shape.hpp"
#include "ebb/memory/heap.hpp"

namespace ebb {

class DeviceLink;
struct Operand;

using Strides = std::array<std::int64_t, kMaxRank>;  // in elements, one an axis

// Of a dense tensor in row-major order.
Strides dense_strides(const Shape& shape) noexcept;
// Whether that is how the elements lie. The stride of an axis of one element does not matter, and
// without elements none does.
bool is_dense(const Shape& shape, const Strides& strides) noexcept;

// What a strided tensor has beside its record; the record's `layout` leads to it.
struct StridedLayout {
  std::uint64_t offset = 0;  // of the first element, in bytes
  Strides strides{};
  std::uint32_t uses = 0;   // how often it was resolved
  std::uint32_t place = 0;  // in its chunk of records
  StridedLayout* next = nullptr;
};

// Copies the operand's elements to `to`, dense and in row-major order.
using Pack = void (*)(const Operand& from, std::byte* to);
void pack(const Operand& from, std::byte* to);
// What pack() does where the operand is strided: a plain loop at first, a backend's own copy where
// there is one. The one that was there.
Pack set_pack(Pack pack) noexcept;
// The same on a device, queued on a stream that comes after whatever wrote the operand.
void pack_on(DeviceLink& link, StreamId stream, const Operand& from, std::byte* to);

}  // namespace ebb
