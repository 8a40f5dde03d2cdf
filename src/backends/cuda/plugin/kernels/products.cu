// Products: from a call to runs of one shape each, and the kernel for what cuBLASLt has not.
#include "backends/cuda/plugin/kernels/epilogue.hpp"
#include "backends/cuda/plugin/kernels/neural.hpp"
#include "backends/cuda/plugin/kernels/products.hpp"
#include "backends/cuda/plugin/kernels/products_tiles.cuh"

namespace ebb::cuda {
namespace {

using ops::Product;

struct StridedCopy {
  int rank;
  std::int64_t count;
  std::int64_t dims[EBB_CUDA_MAX_RANK];
  std::int64_t strides[EBB_CUDA_MAX_RANK];
};

template <typename Word>
__global__ void copy_dense(StridedCopy plan, const Word* from, Word* to) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < plan.count; i += step) {
    std::int64_t rest = i;
    std::int64_t at = 0;
    for (int axis = plan.rank; axis-- > 0;) {
      at += rest % plan.dims[axis] * plan.strides[axis];
      rest /= plan.dims[axis];
    }
    to[i] = from[at];
  }
}

template <typename Word>
ebb_cuda_tensor dense_copy_of(Call& call, const ebb_cuda_tensor& tensor) {
  StridedCopy plan{static_cast<int>(tensor.rank), elements(tensor), {}, {}};
  ebb_cuda_tensor made = tensor;
  std::int64_t step = 1;
  for (std::uint32_t axis = tensor.rank; axis-- > 0;) {
    plan.dims[axis] = tensor.dims[axis];
    plan.strides[axis] = tensor.strides[axis];
    made.strides[axis] = step;
    step *= tensor.dims[axis];
  }
  Word* to = call.workspace<Word>(static_cast<std::size_t>(plan.count));
  copy_dense<<<blocks_for(plan.count), kThreads, 0, call.stream()>>>(
      plan, static_cast<const Word*>(tensor.data), to);
  launched("copy of a strided operand");
  made.data = to;
  made.dense = 1;
  return made;
}

ebb_cuda_tensor dense_copy(Call& call, const ebb_cuda_tensor& tensor) {
  switch (size_of(dtype_of(tensor))) {
    case 2:
      return dense_copy_of<std::uint16_t>(call, tensor);
    case 8:
      return dense_copy_of<std::uint64_t>(call, tensor);
    default:
      return dense_copy_of<std::uint32_t>(call, tensor);
  }
}

// The input, or a dense copy where it does not lie as matrices.
ebb_cuda_tensor matrices(Call& call, std::size_t input) {
  const ebb_cuda_tensor& tensor = call.input(input);
  return lies_as_matrix(tensor) ? tensor : dense_copy(call, tensor);
}

// Which of the epilogue cuBLASLt can take with it. Several runs need not all be taken alike, so
// they take nothing.
enum class With { kNothing, kBias, kAddend };

With with_of(const Call& call, const ops::Epilogue& epilogue, std::int64_t runs) {
  const ebb_cuda_tensor& result = call.output(0);
  if (!epilogue.bias.given || runs != 1) return With::kNothing;
  if (is_whole(epilogue.bias, result)) return With::kAddend;
  const bool aligned = reinterpret_cast<std::uintptr_t>(call.in<float>(2)) % 16 == 0;
  return aligned && is_per_column(epilogue.bias, result) ? With::kBias : With::kNothing;
}

// True: bias or addend are in the result.
bool multiply(Call& call, ProductRun run, With with) {
  if (run.dtype == DType::kInt32) {
    multiply_by_tiles(call, run);
    return false;
  }
  if (multiply_by_cublas(call, run)) return with != With::kNothing;
  run.bias = run.addend = nullptr;
  if (with != With::kNothing && multiply_by_cublas(call, run)) return false;
  multiply_by_tiles(call, run);
  return false;
}

void product(Call& call) {
  const auto& p = call.params<Product>();
  const ebb_cuda_tensor& out = call.output(0);
  const DType dtype = dtype_of(out);
  const std::size_t bytes = size_of(dtype);
  if (elements(out) == 0) return;
  if (p.inner == 0) {
    clear(call, out.data, elements(out) * static_cast<std::int64_t>(bytes));
    if (dtype == DType::kFloat32) apply_epilogue(call, p.epilogue, false);
    return;
  }
  const ProductRuns runs(p, matrices(call, 0), matrices(call, 1), out);
  const With with = with_of(call, p.epilogue, runs.size());
  bool done = false;
  for (std::int64_t i = 0; i < runs.size(); ++i) {
    ProductRun run = runs.at(i);
    if (with == With::kBias) run.bias = call.in<float>(2);
    if (with == With::kAddend) run.addend = call.in<float>(2);
    done = multiply(call, run, with);
  }
  if (dtype == DType::kFloat32) apply_epilogue(call, p.epilogue, done);
}

EBB_CUDA_KERNEL(BatchMatMul, product);
EBB_CUDA_KERNEL(_FusedMatMul, product);

}  // namespace

void multiply_by_tiles(Call& call, const ProductRun& run) {
  switch (run.dtype) {
    case DType::kInt32:
      return launch_tiles<std::uint32_t>(call, run);
    case DType::kComplex64:
      return launch_tiles<ComplexPair>(call, run);
    case DType::kFloat64:
      return launch_tiles<double>(call, run);
    case DType::kFloat16:
      return launch_tiles<__half>(call, run);
    case DType::kBfloat16:
      return launch_tiles<__nv_bfloat16>(call, run);
    default:
      return launch_tiles<float>(call, run);
  }
}

}  // namespace ebb::cuda
