#include "backends/cuda/plugin/kernels/products_runs.hpp"

namespace ebb::cuda {
namespace {

const std::byte* moved(const void* data, std::int64_t elements, std::size_t bytes) {
  return static_cast<const std::byte*>(data) + elements * static_cast<std::int64_t>(bytes);
}

}  // namespace

ProductRuns::Side ProductRuns::side_of(const ops::Product& product, const ebb_cuda_tensor& tensor,
                                       bool transposed) {
  Side side;
  side.matrix.data = tensor.data;
  side.matrix.ld = tensor.dims[tensor.rank - 1];
  side.matrix.transposed = transposed;
  const std::size_t missing = product.rank - tensor.rank;
  for (std::size_t axis = missing; axis < product.batch_axes(); ++axis) {
    side.batch[axis] = tensor.dims[axis - missing] == 1 ? 0 : tensor.strides[axis - missing];
  }
  return side;
}

ProductRuns::ProductRuns(const ops::Product& product, const ebb_cuda_tensor& a,
                         const ebb_cuda_tensor& b, const ebb_cuda_tensor& result)
    : a_(side_of(product, a, product.transpose_a)),
      b_(side_of(product, b, product.transpose_b)),
      bytes_(size_of(static_cast<DType>(result.dtype))) {
  first_.dtype = static_cast<DType>(result.dtype);
  first_.rows = product.rows;
  first_.inner = product.inner;
  first_.columns = product.columns;
  first_.a = a_.matrix;
  first_.b = b_.matrix;
  first_.result = result.data;
  for (std::size_t axis = 0; axis < product.batch_axes(); ++axis)
    batch_[axis] = product.batch[axis];
  collapse(product);
  result_ = first_.count * product.rows * product.columns;
  for (std::size_t axis = 0; axis < left_; ++axis) size_ *= batch_[axis];
  fold();
}

// Takes the last batch axes into one run as far as both operands step evenly over them.
void ProductRuns::collapse(const ops::Product& product) {
  for (left_ = product.batch_axes(); left_ > 0; --left_) {
    const std::size_t axis = left_ - 1;
    if (batch_[axis] == 1) continue;
    if (first_.count == 1) {
      first_.a.stride = a_.batch[axis];
      first_.b.stride = b_.batch[axis];
    } else if (a_.batch[axis] != first_.a.stride * first_.count ||
               b_.batch[axis] != first_.b.stride * first_.count) {
      break;
    }
    first_.count *= batch_[axis];
  }
}

// Many matrices times one: one tall matrix times one, where the rows lie one after the other.
void ProductRuns::fold() {
  if (first_.count == 1 || first_.b.stride != 0 || first_.a.transposed) return;
  if (first_.a.stride != first_.rows * first_.a.ld) return;
  first_.rows *= first_.count;
  first_.count = 1;
  first_.a.stride = 0;
}

ProductRun ProductRuns::at(std::int64_t i) const {
  ProductRun run = first_;
  run.result = const_cast<std::byte*>(moved(first_.result, i * result_, bytes_));
  std::int64_t a_at = 0;
  std::int64_t b_at = 0;
  for (std::size_t axis = left_; axis-- > 0;) {
    a_at += i % batch_[axis] * a_.batch[axis];
    b_at += i % batch_[axis] * b_.batch[axis];
    i /= batch_[axis];
  }
  run.a.data = moved(a_.matrix.data, a_at, bytes_);
  run.b.data = moved(b_.matrix.data, b_at, bytes_);
  return run;
}

}  // namespace ebb::cuda
