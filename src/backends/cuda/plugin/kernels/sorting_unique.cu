// The distinct slices along an axis, in the order of their first appearance.
//
// 1. Every slice looks for its place in an open-addressed table: the first that comes to a free
// place
//    takes it, others go on where they differ from it. Each place keeps the least number of its
//    slices.
// 2. A slice is chosen where it is the least of its place; the chosen are numbered by a scan.
#include <cub/device/device_scan.cuh>

#include "backends/cuda/plugin/kernels/copy.cuh"
#include "backends/cuda/plugin/kernels/keys.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/note.cuh"
#include "ops/params/sorting.hpp"

namespace ebb::cuda {
namespace {

struct Slices {
  DType dtype;
  const void* x;
  std::int64_t before, extent, after;

  // Element j of slice i.
  __device__ std::uint64_t element(std::int64_t i, std::int64_t j) const {
    const std::int64_t m = j / after;
    return identity(dtype, x, (m * extent + i) * after + j - m * after);
  }
  __device__ std::uint64_t hash(std::int64_t i) const {
    std::uint64_t sum = 0x9e3779b97f4a7c15u;
    for (std::int64_t j = 0; j < before * after; ++j) {
      sum = (sum ^ element(i, j)) * 0xbf58476d1ce4e5b9u;
      sum ^= sum >> 29;
    }
    return sum;
  }
  __device__ bool equal(std::int64_t a, std::int64_t b) const {
    for (std::int64_t j = 0; j < before * after; ++j) {
      if (element(a, j) != element(b, j)) return false;
    }
    return true;
  }
};

constexpr int kFree = 0x7fffffff;

struct Place {
  Slices slices;
  int* table;   // a slice that is there, or kFree
  int* least;   // of a place
  int* placed;  // by slice
  std::uint64_t mask;
  __device__ void operator()(std::int64_t slice) const {
    const int i = static_cast<int>(slice);
    for (std::uint64_t at = slices.hash(i) & mask;; at = (at + 1) & mask) {
      const int owner = atomicCAS(table + at, kFree, i);
      if (owner != kFree && !slices.equal(owner, i)) continue;
      atomicMin(least + at, i);
      placed[i] = static_cast<int>(at);
      return;
    }
  }
};

struct Mark {
  const int* least;
  const int* placed;
  int* chosen;  // 1 or 0, by slice
  __device__ void operator()(std::int64_t i) const {
    chosen[i] = least[placed[i]] == static_cast<int>(i) ? 1 : 0;
  }
};

// numbers[i]: of those chosen up to and with i.
struct Renumber {
  const int* least;
  const int* placed;
  const int* numbers;
  std::int32_t* indices;
  int* chosen;  // slice by number
  std::int64_t extent;
  std::int64_t* count;
  __device__ void operator()(std::int64_t i) const {
    const int earliest = least[placed[i]], number = numbers[earliest] - 1;
    indices[i] = number;
    if (earliest == static_cast<int>(i)) chosen[number] = earliest;
    if (i == extent - 1) *count = numbers[i];
  }
};

template <typename T>
struct CopySlices {
  const T* x;
  T* out;
  const int* chosen;
  std::int64_t count, extent, after;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / after, m = row / count;
    out[i] = x[(m * extent + chosen[row - m * count]) * after + i - row * after];
  }
};

struct Chosen {
  const int* slices = nullptr;
  const std::int32_t* indices = nullptr;
  std::int64_t count = 0;
};

Chosen choose(Call& call, const ops::UniqueParams& params) {
  if (params.extent == 0) return {};
  Note note(call.stream());
  std::int64_t* count = note.needed("Unique");
  const cudaStream_t stream = call.stream();
  const auto extent = static_cast<std::size_t>(params.extent);
  std::size_t places = 2;
  while (places < 2 * extent) places *= 2;
  const Slices slices{dtype_of(call.input(0)), call.input(0).data, params.before, params.extent,
                      params.after};
  const std::size_t ints = 2 * places + 4 * extent;  // of an extent below 2^30
  int* table = call.workspace<int>(ints);
  int* least = table + places;
  int* placed = least + places;
  int* numbers = placed + extent;
  int* chosen = numbers + extent;
  int* indices = chosen + extent;
  fill(stream, DType::kInt32, table, static_cast<std::int64_t>(2 * places), kFree);
  for_each(stream, params.extent, "Unique", Place{slices, table, least, placed, places - 1});
  for_each(stream, params.extent, "Unique", Mark{least, placed, numbers});
  std::size_t bytes = 0;
  check(cub::DeviceScan::InclusiveSum(nullptr, bytes, numbers, numbers, params.extent, stream),
        "Unique");
  void* memory = call.workspace(std::max<std::size_t>(bytes, 1));
  check(cub::DeviceScan::InclusiveSum(memory, bytes, numbers, numbers, params.extent, stream),
        "Unique");
  for_each(stream, params.extent, "Unique",
           Renumber{least, placed, numbers, indices, chosen, params.extent, count});
  return {chosen, indices, *note.wait()};
}

void unique(Call& call) {
  const auto& params = call.params<ops::UniqueParams>();
  if (params.extent >= 0x40000000) {
    bad_data(std::to_string(params.extent) + " slices were given, fewer than 2^30 are allowed");
  }
  const ebb_cuda_tensor& x = call.input(0);
  const Chosen chosen = choose(call, params);
  std::int64_t dims[EBB_CUDA_MAX_RANK];
  std::copy(x.dims, x.dims + x.rank, dims);
  dims[params.axis] = chosen.count;
  const ebb_cuda_tensor values = call.make(dtype_of(x), {dims, x.rank});
  const std::int64_t extent[1] = {params.extent};
  const ebb_cuda_tensor indices = call.make(DType::kInt32, extent);
  visit_size(dtype_of(x), [&]<typename T>(Type<T>) {
    for_each(call.stream(), params.before * chosen.count * params.after, "Unique",
             CopySlices<T>{call.in<T>(0), static_cast<T*>(values.data), chosen.slices, chosen.count,
                           params.extent, params.after});
  });
  copy_runs(call.stream(), sizeof(std::int32_t), 1, params.extent, chosen.indices, 0, indices.data,
            0);
}
EBB_CUDA_KERNEL(Unique, unique);

}  // namespace
}  // namespace ebb::cuda
