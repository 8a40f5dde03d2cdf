// Sorting. Elements are ordered by integer keys: NaN counts as the largest, -0 is 0.
#include "ops/params/sorting.hpp"

#include <algorithm>
#include <bit>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/parallel.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

// Floats in the order of their values, as unsigned integers.
template <typename Bits, typename Float>
Bits float_key(Float value) noexcept {
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  if (value != value) return ~Bits{0};
  const auto bits = std::bit_cast<Bits>(value + Float{0});  // -0 + 0 is 0
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

template <typename T>
auto key_of(T value) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    return float_key<std::uint64_t>(value);
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63);
  } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, Bool>) {
    return static_cast<std::uint32_t>(convert<std::int32_t>(value)) ^ 0x80000000u;
  } else {
    return float_key<std::uint32_t>(convert<float>(value));
  }
}

// Sorts first by the largest value, then by the smallest index. 32-bit keys share a word with their
// index, so that a comparison is one instruction.
struct WideEntry {
  std::uint64_t key;
  std::uint64_t index;
  friend auto operator<=>(const WideEntry&, const WideEntry&) = default;
};

std::uint64_t entry(std::uint32_t key, std::int64_t index) noexcept {
  return std::uint64_t{~key} << 32 | static_cast<std::uint32_t>(index);
}
WideEntry entry(std::uint64_t key, std::int64_t index) noexcept {
  return {~key, static_cast<std::uint64_t>(index)};
}
std::int64_t index_of(std::uint64_t entry) noexcept { return static_cast<std::uint32_t>(entry); }
std::int64_t index_of(const WideEntry& entry) noexcept {
  return static_cast<std::int64_t>(entry.index);
}

// How many entries the search for the k largest of a row needs at once.
std::int64_t room_for(const ops::TopKParams& params) {
  return std::min(params.length, checked_add(checked_mul(params.k, 2), 64));
}

// So many elements are compared at once.
constexpr std::int64_t kGlance = 64;

// Whether none of kGlance elements is above `least`; NaN is.
template <typename T, typename Least>
bool none_above(const T* x, Least least) noexcept {
  int above = 0;  // a bool would not be made vectors of
  for (std::int64_t i = 0; i < kGlance; ++i) above |= convert<Least>(x[i]) <= least ? 0 : 1;
  return above == 0;
}

// The k first of all entries of the row come to the front; returns how many there are. Most elements
// are seen to be none of them by one comparison with the last of the k first so far.
template <typename T, typename Entry>
std::int64_t gather_first(const T* x, Entry* entries, const ops::TopKParams& params) noexcept {
  const std::int64_t room = room_for(params);
  std::int64_t count = 0, i = 0;
  for (; i < room; ++i) entries[count++] = entry(key_of(x[i]), i);
  while (count == room && params.k < room) {
    std::nth_element(entries, entries + (params.k - 1), entries + count);
    const Entry bound = entries[params.k - 1];
    const auto least = convert<Arithmetic<T>>(x[index_of(bound)]);
    count = params.k;
    while (i < params.length && count < room) {
      const std::int64_t end = std::min(i + kGlance, params.length);
      if (end - i == kGlance && none_above(x + i, least)) i = end;
      for (; i < end && count < room; ++i) {
        if (convert<Arithmetic<T>>(x[i]) <= least) continue;  // of equal ones the earlier is first
        const Entry each = entry(key_of(x[i]), i);
        if (each < bound) entries[count++] = each;
      }
    }
  }
  return count;
}

template <typename T, typename Entry>
void top_row(const T* x, T* values, std::int32_t* indices, Entry* entries,
             const ops::TopKParams& params) noexcept {
  const std::int64_t count = gather_first(x, entries, params);
  if (params.k < count) std::nth_element(entries, entries + params.k, entries + count);
  if (params.sorted) std::sort(entries, entries + params.k);
  for (std::int64_t i = 0; i < params.k; ++i) {
    const std::int64_t index = index_of(entries[i]);
    indices[i] = static_cast<std::int32_t>(index);
    values[i] = x[index];
  }
}

void top_k(OpCall& call) {
  const auto& params = call.params<ops::TopKParams>();
  if (params.rows == 0 || params.k == 0) return;
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    if constexpr (!kIsComplex<T>) {
      using Entry = decltype(entry(key_of(T{}), 0));
      const T* x = call.in<T>(0);
      T* values = call.out<T>(0);
      auto* indices = call.out<std::int32_t>(1);
      // A row of entries for each part of the rows that runs at once.
      const std::int64_t parts = std::min<std::int64_t>(team_size(), params.rows);
      const std::int64_t room = room_for(params);
      auto* entries = call.workspace<Entry>(static_cast<std::uint64_t>(checked_mul(parts, room)));
      const std::int64_t share = (params.rows + parts - 1) / parts;
      const std::int64_t grain = std::max<std::int64_t>(1, (1 << 13) / (share * params.length + 1));
      parallel_for(parts, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t part = begin; part < end; ++part) {
          Entry* own = entries + part * room;
          const std::int64_t last = std::min(params.rows, (part + 1) * share);
          for (std::int64_t row = part * share; row < last; ++row) {
            top_row(x + row * params.length, values + row * params.k, indices + row * params.k, own,
                    params);
          }
        }
      });
    }
  });
}

template <typename T>
void search_rows(OpCall& call, const ops::SearchParams& params) {
  const T* sorted = call.in<T>(0);
  const T* values = call.in<T>(1);
  auto* out = call.out<std::int32_t>(0);
  const auto less = [](T a, T b) { return convert<Arithmetic<T>>(a) < convert<Arithmetic<T>>(b); };
  parallel_for(params.rows * params.values, 1 << 12, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* row = sorted + i / params.values * params.length;
      const T* last = row + params.length;
      const T* found =
          params.right
              ? std::partition_point(row, last, [&](T each) { return !less(values[i], each); })
              : std::partition_point(row, last, [&](T each) { return less(each, values[i]); });
      out[i] = static_cast<std::int32_t>(found - row);
    }
  });
}

void search(OpCall& call) {
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    if constexpr (!kIsComplex<T>) search_rows<T>(call, call.params<ops::SearchParams>());
  });
}

}  // namespace

void add_sorting(KernelTable& kernels) {
  kernels.set(op_id("TopK"), top_k);
  for (const ops::OpId id : {op_id("LowerBound"), op_id("UpperBound"), op_id("SearchSorted")}) {
    kernels.set(id, search);
  }
}

}  // namespace ebb::cpu
