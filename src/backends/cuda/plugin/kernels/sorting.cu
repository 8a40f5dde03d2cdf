// TopK, and searching in sorted rows.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

#include "backends/cuda/plugin/kernels/keys.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "ops/params/sorting.hpp"

namespace ebb::cuda {
namespace {

// ---- TopK: rows are sorted by falling value, then by rising index

// The inverted key above, the index below: one sort does both.
struct NarrowEntries {
  DType dtype;
  const void* x;
  std::uint64_t* entries;
  std::int64_t length;
  __device__ void operator()(std::int64_t i) const {
    entries[i] =
        std::uint64_t{~narrow_key(dtype, x, i)} << 32 | static_cast<std::uint32_t>(i % length);
  }
};

// The index beside the key; the sort is stable.
struct WideEntries {
  DType dtype;
  const void* x;
  std::uint64_t* keys;
  std::uint32_t* indices;
  std::int64_t length;
  __device__ void operator()(std::int64_t i) const {
    keys[i] = ~wide_key(dtype, x, i);
    indices[i] = static_cast<std::uint32_t>(i % length);
  }
};

template <typename T>
struct TakeFirst {
  const T* x;
  T* values;
  std::int32_t* indices;
  const std::uint64_t* entries;  // or
  const std::uint32_t* sorted;
  std::int64_t length, k;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / k, at = row * length + i - row * k;
    const std::uint32_t index =
        entries != nullptr ? static_cast<std::uint32_t>(entries[at]) : sorted[at];
    indices[i] = static_cast<std::int32_t>(index);
    values[i] = x[row * length + index];
  }
};

struct RowBegin {
  std::int64_t length;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * length; }
};

// Runs a CUB function twice: how much memory it wants, then with it.
template <typename Function>
void with_memory(Call& call, Function function) {
  std::size_t bytes = 0;
  check(function(nullptr, bytes), "TopK");
  void* memory = call.workspace(std::max<std::size_t>(bytes, 1));
  check(function(memory, bytes), "TopK");
}

struct Sorted {
  const std::uint64_t* entries = nullptr;
  const std::uint32_t* indices = nullptr;
};

Sorted sort_narrow(Call& call, const void* x, DType dtype, std::int64_t rows, std::int64_t length) {
  const std::int64_t count = rows * length;
  auto* from = call.workspace<std::uint64_t>(checked_product({static_cast<std::size_t>(count), 2}));
  auto* to = from + count;
  for_each(call.stream(), count, "TopK", NarrowEntries{dtype, x, from, length});
  const auto begins =
      thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), RowBegin{length});
  with_memory(call, [&](void* memory, std::size_t& bytes) {
    if (rows == 1) {
      return cub::DeviceRadixSort::SortKeys(memory, bytes, from, to, count, 0, 64, call.stream());
    }
    return cub::DeviceSegmentedRadixSort::SortKeys(memory, bytes, from, to, static_cast<int>(count),
                                                   static_cast<int>(rows), begins, begins + 1, 0,
                                                   64, call.stream());
  });
  return {.entries = to};
}

Sorted sort_wide(Call& call, const void* x, DType dtype, std::int64_t rows, std::int64_t length) {
  const std::int64_t count = rows * length;
  auto* keys = call.workspace<std::uint64_t>(checked_product({static_cast<std::size_t>(count), 2}));
  auto* indices =
      call.workspace<std::uint32_t>(checked_product({static_cast<std::size_t>(count), 2}));
  for_each(call.stream(), count, "TopK", WideEntries{dtype, x, keys, indices, length});
  const auto begins =
      thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), RowBegin{length});
  with_memory(call, [&](void* memory, std::size_t& bytes) {
    if (rows == 1) {
      return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, keys + count, indices,
                                             indices + count, count, 0, 64, call.stream());
    }
    return cub::DeviceSegmentedRadixSort::SortPairs(
        memory, bytes, keys, keys + count, indices, indices + count, static_cast<int>(count),
        static_cast<int>(rows), begins, begins + 1, 0, 64, call.stream());
  });
  return {.indices = indices + count};
}

void top_k(Call& call) {
  const auto& params = call.params<ops::TopKParams>();
  if (params.rows == 0 || params.k == 0) return;
  const DType dtype = dtype_of(call.input(0));
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  // CUB counts the elements of segments with 31 bits.
  const std::int64_t most = std::max<std::int64_t>(1, (std::int64_t{1} << 30) / params.length);
  for (std::int64_t row = 0; row < params.rows; row += most) {
    const std::int64_t rows = std::min(most, params.rows - row);
    const std::byte* x = call.in<std::byte>(0) + row * params.length * size;
    const Sorted sorted = has_wide_keys(dtype) ? sort_wide(call, x, dtype, rows, params.length)
                                               : sort_narrow(call, x, dtype, rows, params.length);
    visit_size(dtype, [&]<typename T>(Type<T>) {
      for_each(call.stream(), rows * params.k, "TopK",
               TakeFirst<T>{reinterpret_cast<const T*>(x), call.out<T>(0) + row * params.k,
                            call.out<std::int32_t>(1) + row * params.k, sorted.entries,
                            sorted.indices, params.length, params.k});
    });
  }
}
EBB_CUDA_KERNEL(TopK, top_k);

// ---- LowerBound, UpperBound, SearchSorted

template <typename A>
struct Search {
  DType dtype;
  const void* sorted;
  const void* values;
  std::int32_t* out;
  std::int64_t length, per_row;
  bool right;
  // As std::partition_point goes about it.
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / per_row * length;
    const A value = load<A>(dtype, values, i);
    std::int64_t begin = 0, rest = length;
    while (rest > 0) {
      const std::int64_t half = rest / 2;
      const A each = load<A>(dtype, sorted, row + begin + half);
      if (right ? !(value < each) : each < value) {
        begin += half + 1;
        rest -= half + 1;
      } else {
        rest = half;
      }
    }
    out[i] = static_cast<std::int32_t>(begin);
  }
};

template <typename A>
void search_as(Call& call) {
  const auto& params = call.params<ops::SearchParams>();
  for_each(call.stream(), params.rows * params.values, "a search",
           Search<A>{dtype_of(call.input(0)), call.input(0).data, call.input(1).data,
                     call.out<std::int32_t>(0), params.length, params.values, params.right});
}

void search(Call& call) {
  switch (dtype_of(call.input(0))) {
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBfloat16:
      return search_as<float>(call);
    case DType::kInt64:
      return search_as<std::int64_t>(call);
    default:
      return search_as<double>(call);
  }
}
EBB_CUDA_KERNEL(LowerBound, search);
EBB_CUDA_KERNEL(UpperBound, search);
EBB_CUDA_KERNEL(SearchSorted, search);

}  // namespace
}  // namespace ebb::cuda
