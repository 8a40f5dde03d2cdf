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

std::size_t element_bytes(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBfloat16:
      return 2;
    case DType::kComplex64:
    case DType::kFloat64:
      return 8;
    default:
      return 4;
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
  switch (element_bytes(dtype_of(tensor))) {
    case 2:
      return dense_copy_of<std::uint16_t>(call, tensor);
    case 8:
      return dense_copy_of<std::uint64_t>(call, tensor);
    default:
      return dense_copy_of<std::uint32_t>(call, tensor);
  }
}

// How the matrices of a tensor lie, where one of their axes is dense.
bool lies_as_matrix(const ebb_cuda_tensor& tensor, MatrixOperand& operand) {
  const std::int64_t rows = tensor.dims[tensor.rank - 2];
  const std::int64_t columns = tensor.dims[tensor.rank - 1];
  const std::int64_t down = tensor.strides[tensor.rank - 2];
  const std::int64_t across = tensor.strides[tensor.rank - 1];
  operand.data = tensor.data;
  if ((across == 1 || columns == 1) && (down >= columns || rows == 1)) {
    operand.transposed = false;
    operand.ld = rows == 1 ? columns : down;
    return true;
  }
  if ((down == 1 || rows == 1) && (across >= rows || columns == 1)) {
    operand.transposed = true;
    operand.ld = columns == 1 ? rows : across;
    return true;
  }
  return false;
}

using Strides = std::array<std::int64_t, EBB_CUDA_MAX_RANK>;

struct Side {
  MatrixOperand matrix;
  Strides batch{};  // for each batch axis of the result; 0 where the operand is repeated
};

Side side_of(Call& call, const Product& p, std::size_t input, bool transposed) {
  ebb_cuda_tensor tensor = call.input(input);
  Side side;
  if (!lies_as_matrix(tensor, side.matrix)) {
    tensor = dense_copy(call, tensor);
    lies_as_matrix(tensor, side.matrix);
  }
  side.matrix.transposed = side.matrix.transposed != transposed;
  const std::size_t missing = p.rank - tensor.rank;
  for (std::size_t axis = missing; axis < p.batch_axes(); ++axis) {
    side.batch[axis] = tensor.dims[axis - missing] == 1 ? 0 : tensor.strides[axis - missing];
  }
  return side;
}

// Takes the last batch axes into one run as far as both operands step evenly over them; gives the
// number of axes that are left.
std::size_t collapse(const Product& p, const Side& a, const Side& b, ProductRun& run) {
  std::size_t left = p.batch_axes();
  run.a.stride = run.b.stride = 0;
  run.count = 1;
  for (; left > 0; --left) {
    const std::size_t axis = left - 1;
    if (p.batch[axis] == 1) continue;
    if (run.count == 1) {
      run.a.stride = a.batch[axis];
      run.b.stride = b.batch[axis];
    } else if (a.batch[axis] != run.a.stride * run.count ||
               b.batch[axis] != run.b.stride * run.count) {
      break;
    }
    run.count *= p.batch[axis];
  }
  return left;
}

// Many matrices times one: one tall matrix times one, where the rows lie one after the other.
void fold(ProductRun& run) {
  if (run.count == 1 || run.b.stride != 0 || run.a.transposed) return;
  if (run.a.stride != run.rows * run.a.ld) return;
  run.rows *= run.count;
  run.count = 1;
  run.a.stride = 0;
}

const std::byte* moved(const void* data, std::int64_t count, std::size_t bytes) {
  return static_cast<const std::byte*>(data) + count * static_cast<std::int64_t>(bytes);
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
  const std::size_t bytes = element_bytes(dtype);
  if (elements(out) == 0) return;
  if (p.inner == 0) {
    clear(call, out.data, elements(out) * static_cast<std::int64_t>(bytes));
    if (dtype == DType::kFloat32) apply_epilogue(call, p.epilogue, false);
    return;
  }
  const Side a = side_of(call, p, 0, p.transpose_a);
  const Side b = side_of(call, p, 1, p.transpose_b);
  ProductRun run{dtype, p.rows, p.inner, p.columns, 1, a.matrix, b.matrix, out.data};
  const std::size_t left = collapse(p, a, b, run);
  const std::int64_t a_run = run.count * p.rows * p.columns;
  fold(run);
  std::int64_t runs = 1;
  for (std::size_t axis = 0; axis < left; ++axis) runs *= p.batch[axis];
  const With with = with_of(call, p.epilogue, runs);
  bool done = false;
  for (std::int64_t i = 0; i < runs; ++i) {
    std::int64_t rest = i;
    std::int64_t a_at = 0;
    std::int64_t b_at = 0;
    for (std::size_t axis = left; axis-- > 0;) {
      a_at += rest % p.batch[axis] * a.batch[axis];
      b_at += rest % p.batch[axis] * b.batch[axis];
      rest /= p.batch[axis];
    }
    ProductRun one = run;
    one.a.data = moved(a.matrix.data, a_at, bytes);
    one.b.data = moved(b.matrix.data, b_at, bytes);
    one.result = const_cast<std::byte*>(moved(out.data, i * a_run, bytes));
    if (with == With::kBias) one.bias = call.in<float>(2);
    if (with == With::kAddend) one.addend = call.in<float>(2);
    done = multiply(call, one, with);
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
