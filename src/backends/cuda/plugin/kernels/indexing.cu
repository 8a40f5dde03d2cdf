// Gathers and scatters. An index that is out of range is an error, as on the CPU: the call waits
// for the kernel to know.
#include "backends/cuda/plugin/kernels/atomics.cuh"
#include "backends/cuda/plugin/kernels/copy.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/note.cuh"
#include "backends/cuda/plugin/kernels/plans.cuh"
#include "ops/params/indexing.hpp"

namespace ebb::cuda {
namespace {

struct alignas(16) Wide {
  std::uint64_t half[2];
};

// Calls body(Type<T>, slice in T's) with the largest T that slices are made of.
// `steps`: all the distances in bytes between slices, or-ed.
template <typename Body>
void visit_slices(std::int64_t slice_bytes, std::int64_t steps, const void* from, const void* to,
                  Body body) {
  const std::uint64_t all = static_cast<std::uint64_t>(slice_bytes | steps) |
                            reinterpret_cast<std::uintptr_t>(from) |
                            reinterpret_cast<std::uintptr_t>(to);
  if ((all & 15) == 0) return body(Type<Wide>(), slice_bytes / 16);
  if ((all & 7) == 0) return body(Type<std::uint64_t>(), slice_bytes / 8);
  if ((all & 3) == 0) return body(Type<std::uint32_t>(), slice_bytes / 4);
  if ((all & 1) == 0) return body(Type<std::uint16_t>(), slice_bytes / 2);
  return body(Type<std::uint8_t>(), slice_bytes);
}

// ---- GatherV2

template <typename T>
struct Gather {
  const T* from;
  T* to;
  const std::int32_t* indices;
  ops::GatherParams p;  // slice and steps are in T's
  Divisor slices, counts, outers;
  bool small;  // divisors may be used
  std::int64_t* note;

  __device__ std::int64_t quotient(std::int64_t n, const Divisor& fast, std::int64_t by) const {
    return small ? fast.divide(static_cast<std::uint32_t>(n)) : n / by;
  }
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t at = quotient(i, slices, p.slice), within = i - at * p.slice;
    const std::int64_t row = quotient(at, counts, p.count);  // batch and outer
    const std::int64_t batch = quotient(row, outers, p.outer);
    const std::int64_t index = indices[batch * p.count + at - row * p.count];
    if (index < 0 || index >= p.extent) {
      complain(note, index);
      to[i] = T{};
    } else {
      to[i] = from[row * p.row_step + index * p.extent_step + within];
    }
  }
};

struct CheckIndices {
  const std::int32_t* indices;
  std::int64_t extent;
  std::int64_t* note;
  __device__ void operator()(std::int64_t i) const {
    if (indices[i] < 0 || indices[i] >= extent) complain(note, indices[i]);
  }
};

void gather(Call& call) {
  const auto& p = call.params<ops::GatherParams>();
  const std::int64_t indices = p.batch * p.count;
  if (indices == 0) return;
  Note note(call.stream());
  const ebb_cuda_tensor &x = call.input(0), &out = call.output(0);
  const auto size = static_cast<std::int64_t>(size_of(dtype_of(x)));
  if (elements(out) == 0) {
    for_each(call.stream(), indices, "GatherV2",
             CheckIndices{call.in<std::int32_t>(1), p.extent, note.words()});
  } else {
    const std::int64_t steps = (p.row_step | p.extent_step) * size;
    visit_slices(
        p.slice * size, steps, x.data, out.data, [&]<typename T>(Type<T>, std::int64_t slice) {
          const std::int64_t count = p.batch * p.outer * p.count * slice;
          const bool small = count <= 0x7fffffff;
          Gather<T> body{call.in<T>(0), call.out<T>(0), call.in<std::int32_t>(1), p, {}, {}, {},
                         small,         note.words()};
          body.p.slice = slice;
          body.p.row_step = p.row_step * size / std::int64_t{sizeof(T)};
          body.p.extent_step = p.extent_step * size / std::int64_t{sizeof(T)};
          if (small) {
            body.slices = Divisor(static_cast<std::uint32_t>(slice));
            body.counts = Divisor(static_cast<std::uint32_t>(p.count));
            body.outers = Divisor(static_cast<std::uint32_t>(p.outer));
          }
          for_each(call.stream(), count, "GatherV2", body);
        });
  }
  if (note.complains()) {
    bad_data("GatherV2: the index value " + std::to_string(note.word(1)) + " is not in [0, " +
             std::to_string(p.extent - 1) + "]");
  }
}
EBB_CUDA_KERNEL(GatherV2, gather);

// ---- index rows

struct Rows {
  const std::int32_t* indices;
  int depth;
  std::int64_t extent[kMaxRank], step[kMaxRank];
  std::int64_t* note;

  // Where the slice lies that an index row names, in slices; -1: nowhere.
  __device__ std::int64_t at(std::int64_t i) const {
    std::int64_t sum = 0;
    for (int axis = 0; axis < depth; ++axis) {
      const std::int64_t index = indices[i * depth + axis];
      if (index < 0 || index >= extent[axis]) {
        complain(note, index, axis, extent[axis]);
        return -1;
      }
      sum += index * step[axis];
    }
    return sum;
  }
};

Rows rows_of(const ops::NdParams& p, const std::int32_t* indices, const Note& note) {
  Rows rows{.indices = indices, .depth = static_cast<int>(p.depth), .note = note.words()};
  for (std::size_t i = 0; i < kMaxRank; ++i) {
    rows.extent[i] = p.extent[i];
    rows.step[i] = p.step[i];
  }
  return rows;
}

void check_rows(Note& note) {
  if (!note.complains()) return;
  bad_data("Invalid indices: " + std::to_string(note.word(1)) + " on axis " +
           std::to_string(note.word(2)) + " does not index into an extent of " +
           std::to_string(note.word(3)));
}

struct CheckRows {
  Rows rows;
  __device__ void operator()(std::int64_t i) const { (void)rows.at(i); }
};

template <typename T>
struct GatherNd {
  const T* from;
  T* to;
  Rows rows;
  std::int64_t slice;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / slice, at = rows.at(row);
    to[i] = at < 0 ? T{} : from[at * slice + i - row * slice];
  }
};

void gather_nd(Call& call) {
  const auto& p = call.params<ops::NdParams>();
  const ebb_cuda_tensor &x = call.input(0), &out = call.output(0);
  const bool indexed = p.count != 0 && p.depth != 0;  // else there is no index to look at
  if (!indexed && elements(out) == 0) return;
  Note note(call.stream());
  const Rows rows = rows_of(p, call.in<std::int32_t>(1), note);
  if (elements(out) == 0) {
    for_each(call.stream(), p.count, "GatherNd", CheckRows{rows});
  } else {
    const std::int64_t bytes = p.slice * static_cast<std::int64_t>(size_of(dtype_of(x)));
    visit_slices(bytes, 0, x.data, out.data, [&]<typename T>(Type<T>, std::int64_t slice) {
      for_each(call.stream(), p.count * slice, "GatherNd",
               GatherNd<T>{call.in<T>(0), call.out<T>(0), rows, slice});
    });
  }
  check_rows(note);
}
EBB_CUDA_KERNEL(GatherNd, gather_nd);

// ---- ScatterNd: what meets in one place is added

template <typename T>
struct ScatterAdd {
  Rows rows;
  const T* updates;
  T* out;
  std::int64_t slice;
  bool one_update;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / slice, at = rows.at(row);
    if (at >= 0) atomic_add(out + at * slice + i - row * slice, updates[one_update ? 0 : i]);
  }
};

void scatter_nd(Call& call) {
  const auto& p = call.params<ops::NdParams>();
  const ebb_cuda_tensor& out = call.output(0);
  if (elements(out) == 0) return;
  fill(call.stream(), dtype_of(out), out.data, elements(out), 0);
  if (p.count == 0) return;
  Note note(call.stream());
  const Rows rows = rows_of(p, call.in<std::int32_t>(0), note);
  visit(dtype_of(out), [&]<typename T>(Type<T>) {
    for_each(call.stream(), p.count * p.slice, "ScatterNd",
             ScatterAdd<T>{rows, call.in<T>(1), call.out<T>(0), p.slice, p.one_update});
  });
  check_rows(note);
}
EBB_CUDA_KERNEL(ScatterNd, scatter_nd);

// ---- TensorScatterUpdate, SparseToDense: of updates that meet, the last one stays

struct Elect {
  Rows rows;
  unsigned* last;  // by slice: the number of the last update, from 1
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t at = rows.at(i);
    if (at >= 0) atomicMax(last + at, static_cast<unsigned>(i + 1));
  }
};

template <typename T>
struct ScatterLast {
  Rows rows;
  const unsigned* last;
  const T* updates;
  T* out;
  std::int64_t slice;
  bool one_update;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / slice, at = rows.at(row);
    if (at < 0 || last[at] != static_cast<unsigned>(row + 1)) return;
    out[at * slice + i - row * slice] = updates[one_update ? 0 : i];
  }
};

template <typename T>
struct Spread {
  const T* value;
  T* out;
  __device__ void operator()(std::int64_t i) const { out[i] = *value; }
};

void scatter_last(Call& call, std::size_t indices, std::size_t updates) {
  const auto& p = call.params<ops::NdParams>();
  const ebb_cuda_tensor& out = call.output(0);
  if (p.count == 0) return;
  if (p.count >= 0xffffffff) throw Failure{EBB_CUDA_NO_KERNEL, "2^32 updates and more"};
  const auto slices = static_cast<std::size_t>(elements(out) / p.slice);
  auto* last = call.workspace<unsigned>(slices);
  check(cudaMemsetAsync(last, 0, slices * sizeof(unsigned), call.stream()), "a fill");
  Note note(call.stream());
  const Rows rows = rows_of(p, call.in<std::int32_t>(indices), note);
  for_each(call.stream(), p.count, "a scatter", Elect{rows, last});
  visit_size(dtype_of(out), [&]<typename T>(Type<T>) {
    for_each(
        call.stream(), p.count * p.slice, "a scatter",
        ScatterLast<T>{rows, last, call.in<T>(updates), call.out<T>(0), p.slice, p.one_update});
  });
  check_rows(note);
}

void tensor_scatter_update(Call& call) {
  if (elements(call.output(0)) == 0) return;
  pack(call.stream(), call.input(0), call.output(0).data);
  scatter_last(call, 1, 2);
}
EBB_CUDA_KERNEL(TensorScatterUpdate, tensor_scatter_update);

void sparse_to_dense(Call& call) {
  const ebb_cuda_tensor& out = call.output(0);
  visit_size(dtype_of(out), [&]<typename T>(Type<T>) {
    for_each(call.stream(), elements(out), "SparseToDense",
             Spread<T>{call.in<T>(2), call.out<T>(0)});
  });
  if (elements(out) > 0) scatter_last(call, 0, 1);
}
EBB_CUDA_KERNEL(SparseToDense, sparse_to_dense);

}  // namespace
}  // namespace ebb::cuda
