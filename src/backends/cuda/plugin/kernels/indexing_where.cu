// Where: the coordinates of what is true, in row-major order.
#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_select.cuh>

#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/note.cuh"

namespace ebb::cuda {
namespace {

struct IsTrue {
  const std::uint8_t* condition;
  __device__ bool operator()(std::uint32_t i) const { return condition[i] != 0; }
};

struct Coordinates {
  const std::uint32_t* positions;
  std::int32_t* out;
  int rank;
  std::int64_t steps[EBB_CUDA_MAX_RANK];
  __device__ void operator()(std::int64_t i) const {
    std::int64_t rest = positions[i];
    for (int axis = 0; axis < rank; ++axis) {
      const std::int64_t at = rest / steps[axis];
      rest -= at * steps[axis];
      out[i * rank + axis] = static_cast<std::int32_t>(at);
    }
  }
};

void where(Call& call) {
  const ebb_cuda_tensor& x = call.input(0);
  const std::int64_t count = elements(x);
  if (count > 0xffffffff) throw Failure{EBB_CUDA_NO_KERNEL, "2^32 elements and more"};
  std::int64_t found = 0;
  std::uint32_t* positions = nullptr;
  if (count > 0) {
    Note note(call.stream());
    std::int64_t* counted = note.needed("Where");
    const IsTrue is_true{call.in<std::uint8_t>(0)};
    const thrust::counting_iterator<std::uint32_t> numbers(0);
    positions = call.workspace<std::uint32_t>(static_cast<std::size_t>(count));
    std::size_t bytes = 0;
    check(cub::DeviceSelect::If(nullptr, bytes, numbers, positions, counted, count, is_true,
                                call.stream()),
          "Where");
    void* temporary = call.workspace(bytes);
    check(cub::DeviceSelect::If(temporary, bytes, numbers, positions, counted, count, is_true,
                                call.stream()),
          "Where");
    found = *note.wait();
  }
  const std::int64_t dims[2] = {found, x.rank};
  ebb_cuda_tensor& out = call.make(DType::kInt32, dims);
  Coordinates body{.positions = positions,
                   .out = static_cast<std::int32_t*>(out.data),
                   .rank = static_cast<int>(x.rank),
                   .steps = {}};
  std::int64_t step = 1;
  for (std::uint32_t i = x.rank; i-- > 0;) {
    body.steps[i] = step;
    step *= x.dims[i];
  }
  if (x.rank > 0) for_each(call.stream(), found, "Where", body);
}
EBB_CUDA_KERNEL(Where, where);

}  // namespace
}  // namespace ebb::cuda
