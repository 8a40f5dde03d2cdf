// Kernels that move data.
#include <vector>

#include "backends/cuda/plugin/kernels/copy.cuh"
#include "backends/cuda/plugin/kernels/element.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/movement.hpp"
#include "backends/cuda/plugin/kernels/movement_parts.hpp"
#include "backends/cuda/plugin/kernels/note.cuh"
#include "ops/params/movement.hpp"

namespace ebb::cuda {

void move(Call& call) {
  const auto& params = call.params<ops::MoveParams>();
  const ebb_cuda_tensor& out = call.output(0);
  if (params.fills) fill(call.stream(), dtype_of(out), out.data, elements(out), params.value);
  copy(call.stream(), params.plan, size_of(dtype_of(out)), call.input(0).data, out.data);
}

const std::byte* dense(Call& call, const ebb_cuda_tensor& x) {
  if (x.dense != 0) return static_cast<const std::byte*>(x.data);
  auto* made = call.workspace<std::byte>(
      checked_product({static_cast<std::size_t>(elements(x)), size_of(dtype_of(x))}));
  pack(call.stream(), x, made);
  return made;
}

namespace {

std::size_t size_of_output(const Call& call) { return size_of(dtype_of(call.output(0))); }

EBB_CUDA_KERNEL(StridedSlice, move);
EBB_CUDA_KERNEL(Reverse, move);
EBB_CUDA_KERNEL(Tile, move);
EBB_CUDA_KERNEL(BroadcastTo, move);
EBB_CUDA_KERNEL(PadV2, move);
EBB_CUDA_KERNEL(Diag, move);
EBB_CUDA_KERNEL(DepthToSpace, move);

void two_moves(Call& call) {
  const auto& params = call.params<ops::TwoMovesParams>();
  const std::size_t size = size_of_output(call);
  const std::size_t bytes = checked_product({static_cast<std::size_t>(params.between), size});
  if (bytes == 0) return;
  auto* between = call.workspace<std::byte>(bytes);
  if (params.fills_between) check(cudaMemsetAsync(between, 0, bytes, call.stream()), "a fill");
  copy(call.stream(), params.first, size, call.input(0).data, between);
  copy(call.stream(), params.second, size, between, call.output(0).data);
}
EBB_CUDA_KERNEL(BatchToSpaceND, two_moves);
EBB_CUDA_KERNEL(SpaceToBatchND, two_moves);

// Positions before the axis along which the whole is joined or cut.
std::int64_t outer_of(const Call& call, const ebb_cuda_tensor& whole) {
  const std::size_t axis = call.params<ops::PartsParams>().axis;
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= whole.dims[i];
  return outer;
}

void join(Call& call) {
  const ebb_cuda_tensor& out = call.output(0);
  if (elements(out) == 0) return;
  const std::int64_t outer = outer_of(call, out);
  const auto size = static_cast<std::int64_t>(size_of_output(call));
  const std::int64_t whole = elements(out) / outer;  // of one outer position
  std::vector<PartOfRows> parts;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    const std::int64_t part = elements(call.input(i)) / outer;
    if (part == 0) continue;
    parts.push_back({const_cast<std::byte*>(dense(call, call.input(i))), part * size});
  }
  auto* to = call.out<std::byte>(0);
  if (join_parts(call.stream(), to, outer, whole * size, parts)) return;
  for (const PartOfRows& part : parts) {
    copy_runs(call.stream(), static_cast<std::size_t>(size), outer, part.size / size, part.data,
              part.size / size, to, whole);
    to += part.size;
  }
}
EBB_CUDA_KERNEL(Concat, join);
EBB_CUDA_KERNEL(Pack, join);

void cut(Call& call, std::size_t outputs) {
  const ebb_cuda_tensor& x = call.input(0);
  if (elements(x) == 0) return;
  const std::int64_t outer = outer_of(call, x);
  const auto size = static_cast<std::int64_t>(size_of(dtype_of(x)));
  const std::int64_t whole = elements(x) / outer;
  const std::byte* from = dense(call, x);
  std::vector<PartOfRows> parts;
  for (std::size_t i = 0; i < outputs; ++i) {
    parts.push_back({call.out<std::byte>(i), elements(call.output(i)) / outer * size});
  }
  if (cut_parts(call.stream(), const_cast<std::byte*>(from), outer, whole * size, parts)) return;
  for (const PartOfRows& part : parts) {
    copy_runs(call.stream(), static_cast<std::size_t>(size), outer, part.size / size, from, whole,
              part.data, part.size / size);
    from += part.size;
  }
}

void split(Call& call) {
  cut(call, call.numbers(ops::attribute_at("SplitV", "sizeSplits")).size());
}
EBB_CUDA_KERNEL(SplitV, split);

void unpack(Call& call) {
  const ebb_cuda_tensor& x = call.input(0);
  const std::int64_t axis = call.integer(ops::attribute_at("Unpack", "axis"));
  cut(call, static_cast<std::size_t>(x.dims[axis < 0 ? axis + x.rank : axis]));
}
EBB_CUDA_KERNEL(Unpack, unpack);

// ---- MirrorPad

struct Mirror {
  int rank;
  bool symmetric;
  std::int64_t extent[EBB_CUDA_MAX_RANK], from[EBB_CUDA_MAX_RANK], to[EBB_CUDA_MAX_RANK],
      before[EBB_CUDA_MAX_RANK];

  // The position in an extent that a position outside of it mirrors.
  __device__ std::int64_t inside(std::int64_t position, std::int64_t extent) const {
    const std::int64_t edge = symmetric ? 1 : 0;
    if (position < 0) return -position - edge;
    if (position >= extent) return 2 * extent - position - 2 + edge;
    return position;
  }
  __device__ std::int64_t source(std::int64_t rest) const {
    std::int64_t index = 0;
    for (int i = 0; i < rank; ++i) {
      const std::int64_t position = rest / to[i];
      rest -= position * to[i];
      index += from[i] * inside(position - before[i], extent[i]);
    }
    return index;
  }
};

template <typename T>
struct MirrorPad {
  const T* x;
  T* y;
  Mirror mirror;
  __device__ void operator()(std::int64_t i) const { y[i] = x[mirror.source(i)]; }
};

void mirror_pad(Call& call) {
  const auto& params = call.params<ops::MirrorParams>();
  const ebb_cuda_tensor &x = call.input(0), &out = call.output(0);
  Mirror mirror{.rank = static_cast<int>(x.rank), .symmetric = params.symmetric};
  std::int64_t step = 1;
  for (std::uint32_t i = x.rank; i-- > 0;) {
    mirror.extent[i] = x.dims[i];
    mirror.from[i] = x.strides[i];
    mirror.to[i] = step;
    mirror.before[i] = params.before[i];
    step *= out.dims[i];
  }
  visit_size(dtype_of(x), [&]<typename T>(Type<T>) {
    for_each(call.stream(), elements(out), "MirrorPad",
             MirrorPad<T>{call.in<T>(0), call.out<T>(0), mirror});
  });
}
EBB_CUDA_KERNEL(MirrorPad, mirror_pad);

// ---- MatrixBandPart

template <typename T>
struct Band {
  const T* x;
  T* y;
  const std::int32_t* lower;
  const std::int32_t* upper;
  std::int64_t rows, columns;
  std::int64_t* note;
  __device__ void operator()(std::int64_t at) const {
    const std::int64_t below = *lower < 0 ? rows : *lower, above = *upper < 0 ? columns : *upper;
    if (at == 0 && (below > rows || above > columns)) complain(note, below, above);
    const std::int64_t i = at / columns % rows, j = at % columns;
    y[at] = i - j <= below && j - i <= above ? x[at] : T{};
  }
};

void matrix_band_part(Call& call) {
  const ebb_cuda_tensor& x = call.input(0);
  const std::int64_t rows = x.dims[x.rank - 2], columns = x.dims[x.rank - 1];
  if (elements(x) == 0) return;
  Note note(call.stream());
  visit_size(dtype_of(x), [&]<typename T>(Type<T>) {
    for_each(call.stream(), elements(x), "MatrixBandPart",
             Band<T>{call.in<T>(0), call.out<T>(0), call.in<std::int32_t>(1),
                     call.in<std::int32_t>(2), rows, columns, note.words()});
  });
  if (note.complains()) {
    bad_data("numLower " + std::to_string(note.word(1)) + " and numUpper " +
             std::to_string(note.word(2)) + " were given, at most " + std::to_string(rows) +
             " and " + std::to_string(columns) + " are allowed");
  }
}
EBB_CUDA_KERNEL(MatrixBandPart, matrix_band_part);

// ---- BroadcastArgs

struct BroadcastArgs {
  const std::int32_t* shape[2];
  std::int64_t ranks[2];
  std::int64_t rank;
  std::int32_t* out;
  std::int64_t* note;
  __device__ void operator()(std::int64_t i) const {
    std::int32_t dims[2] = {1, 1};
    for (int k = 0; k < 2; ++k) {
      if (i >= rank - ranks[k]) dims[k] = shape[k][i - (rank - ranks[k])];
    }
    if (dims[0] != dims[1] && dims[0] != 1 && dims[1] != 1) complain(note, dims[0], dims[1]);
    out[i] = dims[0] == 1 ? dims[1] : dims[0];
  }
};

void broadcast_args(Call& call) {
  Note note(call.stream());
  const std::int64_t rank = call.output(0).dims[0];
  if (rank == 0) return;
  for_each(call.stream(), rank, "BroadcastArgs",
           BroadcastArgs{{call.in<std::int32_t>(0), call.in<std::int32_t>(1)},
                         {call.input(0).dims[0], call.input(1).dims[0]},
                         rank,
                         call.out<std::int32_t>(0),
                         note.words()});
  if (note.complains()) {
    bad_data("extents " + std::to_string(note.word(1)) + " and " + std::to_string(note.word(2)) +
             " were given, they do not broadcast together");
  }
}
EBB_CUDA_KERNEL(BroadcastArgs, broadcast_args);

}  // namespace
}  // namespace ebb::cuda
