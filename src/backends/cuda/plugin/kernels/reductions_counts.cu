// Counts and sums by what an integer says.
#include "backends/cuda/plugin/kernels/atomics.cuh"
#include "backends/cuda/plugin/kernels/copy.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/note.cuh"

namespace ebb::cuda {
namespace {

template <typename T>
struct Count {
  const std::int32_t* values;
  const T* weights;  // null: each counts 1
  T* out;
  std::int64_t columns, size;
  bool binary;
  std::int64_t* note;
  __device__ void operator()(std::int64_t i) const {
    if (values[i] < 0) return complain(note, values[i]);
    if (values[i] >= size) return;
    T* bin = out + i / columns * size + values[i];
    if (binary) {
      *bin = convert<T>(1.0);
    } else {
      atomic_add(bin, weights != nullptr ? weights[i] : convert<T>(1.0));
    }
  }
};

void bincount(Call& call) {
  const ebb_cuda_tensor &x = call.input(0), &out = call.output(0);
  const bool binary = call.op() == ops::op_id("DenseBincount") &&
                      call.boolean(ops::attribute_at("DenseBincount", "binaryOutput"));
  const bool weighted = elements(call.input(1)) > 0;
  fill(call.stream(), dtype_of(out), out.data, elements(out), 0);
  if (elements(x) == 0) return;
  Note note(call.stream());
  visit(dtype_of(out), [&]<typename T>(Type<T>) {
    for_each(call.stream(), elements(x), "Bincount",
             Count<T>{call.in<std::int32_t>(0), weighted ? call.in<T>(1) : nullptr, call.out<T>(0),
                      x.dims[x.rank - 1],
                      call.integer(ops::attribute_of_all("size", "Bincount", "DenseBincount")),
                      binary, note.words()});
  });
  if (note.complains()) {
    bad_data(std::to_string(note.word(1)) + " was given, at least 0 is allowed");
  }
}
EBB_CUDA_KERNEL(Bincount, bincount);
EBB_CUDA_KERNEL(DenseBincount, bincount);

// Rows whose segment is out of range are dropped, as TensorFlow does.
template <typename T, typename Out>
struct SegmentSum {
  const T* x;
  const std::int32_t* segment;
  Out* out;
  std::int64_t width, segments;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / width, to = segment[row];
    if (to < 0 || to >= segments) return;
    atomic_add(out + to * width + i - row * width, convert<Out>(x[i]));
  }
};

void segment_sum(Call& call) {
  const ebb_cuda_tensor &x = call.input(0), &out = call.output(0);
  fill(call.stream(), dtype_of(out), out.data, elements(out), 0);
  if (elements(x) == 0 || elements(out) == 0) return;
  visit(dtype_of(x), [&]<typename T>(Type<T>) {
    using Out = std::conditional_t<std::is_same_v<T, Bool>, std::int32_t, T>;
    for_each(
        call.stream(), elements(x), "UnsortedSegmentSum",
        SegmentSum<T, Out>{call.in<T>(0), call.in<std::int32_t>(1), call.out<Out>(0),
                           elements(x) / elements(call.input(1)),
                           call.integer(ops::attribute_at("UnsortedSegmentSum", "numSegments"))});
  });
}
EBB_CUDA_KERNEL(UnsortedSegmentSum, segment_sum);

}  // namespace
}  // namespace ebb::cuda
