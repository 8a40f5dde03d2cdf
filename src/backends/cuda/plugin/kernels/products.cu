// Products: from a call to runs of one shape each, and the kernel for what cuBLASLt has not.
#include <utility>

#include "backends/cuda/plugin/kernels/epilogue.hpp"
#include "backends/cuda/plugin/kernels/neural.hpp"
#include "backends/cuda/plugin/kernels/products.hpp"
#include "backends/cuda/plugin/kernels/products_tiles.cuh"

namespace ebb::cuda {
namespace {

using ops::Product;

// Dense as it lies in memory: where the matrices of a strided operand are transposed, which is the
// one way in which it may be strided, the product's flags say so.
ebb_cuda_tensor as_it_lies(ebb_cuda_tensor tensor) {
  if (tensor.dense != 0) return tensor;
  std::swap(tensor.dims[tensor.rank - 2], tensor.dims[tensor.rank - 1]);
  std::swap(tensor.strides[tensor.rank - 2], tensor.strides[tensor.rank - 1]);
  return tensor;
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

// What small products can do while they write; false: they cannot.
bool finish_of(const Call& call, const ops::Epilogue& epilogue, Finish& finish) {
  if (epilogue.activation == ops::Activation::kPrelu) return false;
  finish.activation = epilogue.activation;
  finish.alpha = epilogue.alpha;
  if (!epilogue.bias.given) return true;
  const ebb_cuda_tensor& result = call.output(0);
  const bool whole = is_whole(epilogue.bias, result);
  (whole ? finish.addend : finish.bias) = call.in<float>(2);
  return whole || is_per_column(epilogue.bias, result);
}

// True: bias or addend are in the result.
bool multiply(Call& call, ProductRun run, With with) {
  if (run.dtype == DType::kInt32) {
    multiply_by_tiles(call, run);
    return false;
  }
  if (multiply_small(call, run, {})) return false;
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
  const ProductRuns runs(p, as_it_lies(call.input(0)), as_it_lies(call.input(1)), out);
  Finish finish;
  if (runs.size() == 1 && dtype == DType::kFloat32 && finish_of(call, p.epilogue, finish) &&
      multiply_small(call, runs.at(0), finish)) {
    return;
  }
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
