// What the handle table holds for each tensor: two cache lines, the first of them all that making,
// ending and orphaning touch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "ebb/base/dtype.hpp"
#include "ebb/base/shape.hpp"
#include "ebb/tensor/layout.hpp"
#include "ebb/tensor/storage.hpp"
#include "memory/region.hpp"
#include "memory/slot_table.hpp"

namespace ebb {

struct alignas(64) TensorRecord : SlotHeader<TensorRecord>, Owned {
  enum Flag : std::uint8_t {
    kHold = 1,       // not a tensor: a reference that a host holds by name
    kUnwatched = 2,  // no death notice will come
    kWaiting = 4,    // noticed, and in one of the context's waiting lists
    kStrided = 8,    // not dense: `layout` says where its elements lie
  };

  Storage* storage = nullptr;
  SiteId site = 0;
  DType dtype = DType::kUnknown;
  std::uint8_t rank = 0;  // of the tensor; at most kMaxRank of its dims are kept
  std::uint8_t flags = 0;

  std::array<std::int64_t, kMaxRank> dims{};
  union {
    std::uint64_t tag = 0;  // foreign: the host's name. Ebb's own: the view's byte offset
    StridedLayout* layout;  // strided: from the context's arena, back there when the tensor ends
  };
  // The next in the orphan queue; in a waiting list the one before it (`link` is the next).
  atomic<TensorRecord*> notice_link{nullptr};

  bool has(Flag flag) const noexcept { return (flags & flag) != 0; }
  std::span<const std::int64_t> shape() const noexcept {
    return {dims.data(), std::min<std::size_t>(rank, kMaxRank)};
  }
  // Pre: Ebb's own.
  std::uint64_t byte_offset() const noexcept { return has(kStrided) ? layout->offset : tag; }
};
static_assert(sizeof(TensorRecord) == 128);

}  // namespace ebb
