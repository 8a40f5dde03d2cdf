// The distinct slices along an axis, in the order of their first appearance. Slices are equal where
// their values are: -0 is 0, and all NaN are one.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "ops/int_list.hpp"
#include "ops/params/sorting.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

// One value has one bit pattern.
template <typename T>
T canonical(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return value != value ? std::numeric_limits<T>::quiet_NaN() : value + T{0};
  } else if constexpr (kIsComplex<T>) {
    return {canonical(value.real()), canonical(value.imag())};
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>) {
    return T(canonical(static_cast<float>(value)));
  } else if constexpr (std::is_same_v<T, Bool>) {
    return Bool{static_cast<std::uint8_t>(value.value != 0)};
  } else {
    return value;
  }
}

// The slices one after the other, canonical.
template <typename T>
void gather_slices(const T* x, T* slices, const ops::UniqueParams& params) noexcept {
  for (std::int64_t i = 0; i < params.extent; ++i) {
    for (std::int64_t m = 0; m < params.before; ++m) {
      const T* from = x + (m * params.extent + i) * params.after;
      slices = std::transform(from, from + params.after, slices, canonical<T>);
    }
  }
}

// An open-addressed table of the distinct slices so far.
class SliceSet {
 public:
  SliceSet(const std::byte* slices, std::size_t slice_bytes, std::span<std::int32_t> table) noexcept
      : slices_(slices), bytes_(slice_bytes), table_(table) {
    std::fill(table_.begin(), table_.end(), -1);
  }

  // The slice that is equal and came first: `slice` itself where there is none.
  std::int32_t first_equal(std::int32_t slice) noexcept {
    const std::size_t mask = table_.size() - 1;
    for (std::size_t at = std::hash<std::string_view>()(bytes(slice)) & mask;;
         at = (at + 1) & mask) {
      if (table_[at] < 0) table_[at] = slice;
      if (bytes(table_[at]) == bytes(slice)) return table_[at];
    }
  }

 private:
  std::string_view bytes(std::int32_t slice) const noexcept {
    return {reinterpret_cast<const char*>(slices_) + static_cast<std::size_t>(slice) * bytes_,
            bytes_};
  }

  const std::byte* slices_;
  std::size_t bytes_;
  std::span<std::int32_t> table_;
};

template <typename T>
void copy_slices(const T* x, T* out, std::span<const std::int32_t> chosen,
                 const ops::UniqueParams& params) noexcept {
  for (std::int64_t m = 0; m < params.before; ++m) {
    for (const std::int32_t slice : chosen) {
      out = std::copy_n(x + (m * params.extent + slice) * params.after, params.after, out);
    }
  }
}

void make_outputs(OpCall& call, const ops::UniqueParams& params, std::int64_t count) {
  ops::IntList dims(call.input(0).shape.dims());
  dims[params.axis] = count;
  call.make(call.input(0).dtype, Shape(dims));
  call.make(DType::kInt32, Shape{params.extent});
}

// Slices without elements are all equal, and there may be any number of them.
void unique_of_none(OpCall& call, const ops::UniqueParams& params) {
  make_outputs(call, params, std::min<std::int64_t>(params.extent, 1));
  std::fill_n(call.out<std::int32_t>(1), params.extent, 0);
}

template <typename T>
void unique_of(OpCall& call, const ops::UniqueParams& params) {
  const auto extent = static_cast<std::size_t>(params.extent);
  const std::size_t slice = static_cast<std::size_t>(params.before * params.after);
  T* slices = call.workspace<T>(checked_mul(extent, slice));
  gather_slices(call.in<T>(0), slices, params);

  const std::size_t slots = std::bit_ceil(2 * extent + 1);
  auto* ints = call.workspace<std::int32_t>(checked_add(slots, checked_mul(extent, 3)));
  SliceSet set(reinterpret_cast<const std::byte*>(slices), slice * sizeof(T), {ints, slots});
  std::int32_t* chosen = ints + slots;   // the slices that came first
  std::int32_t* rank = chosen + extent;  // of a slice among the chosen
  std::int32_t* indices = rank + extent;
  std::int32_t count = 0;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(extent); ++i) {
    const std::int32_t first = set.first_equal(i);
    if (first == i) {
      chosen[count] = i;
      rank[i] = count++;
    }
    indices[i] = rank[first];
  }

  make_outputs(call, params, count);
  copy_slices(call.in<T>(0), call.out<T>(0), {chosen, static_cast<std::size_t>(count)}, params);
  std::copy_n(indices, extent, call.out<std::int32_t>(1));
}

void unique(OpCall& call) {
  const auto& params = call.params<ops::UniqueParams>();
  call.check(params.extent < 0x40000000, "{} slices were given, fewer than 2^30 are allowed",
             params.extent);
  if (call.input(0).shape.empty()) return unique_of_none(call, params);
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) { unique_of<T>(call, params); });
}

}  // namespace

void add_sorting_unique(KernelTable& kernels) { kernels.set(op_id("Unique"), unique); }

}  // namespace ebb::cpu
