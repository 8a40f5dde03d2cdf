#include "ops/params/products.hpp"

#include <algorithm>

#include "ops/axes.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"
#include "ops/fused.hpp"

namespace ebb::ops {
namespace {

constexpr std::size_t kTransposeA = attribute_of_all("transposeA", "BatchMatMul", "_FusedMatMul");
constexpr std::size_t kTransposeB = attribute_of_all("transposeB", "BatchMatMul", "_FusedMatMul");

struct Matrix {
  std::int64_t rows;
  std::int64_t columns;
};

Matrix matrix_of(const OpCall& call, std::size_t input, bool transposed) {
  const Shape& shape = call.input(input).shape;
  call.check(shape.rank() >= 2, "input {} of shape {} was given, rank 2 or more is allowed", input,
             shape);
  const std::int64_t first = shape.dims()[shape.rank() - 2];
  const std::int64_t second = shape.dims()[shape.rank() - 1];
  return transposed ? Matrix{second, first} : Matrix{first, second};
}

Shape batch_of(const Shape& shape) { return Shape(shape.dims().first(shape.rank() - 2)); }

void fill_batch(std::array<std::int64_t, kMaxRank>& out, const Shape& batch, std::size_t axes) {
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t missing = axes - batch.rank();
    out[i] = i < missing ? 1 : batch.dims()[i - missing];
  }
}

Shape result_of(const Product& product) {
  std::array<std::int64_t, kMaxRank> dims = product.batch;
  dims[product.rank - 2] = product.rows;
  dims[product.rank - 1] = product.columns;
  return Shape(std::span<const std::int64_t>(dims.data(), product.rank));
}

bool is_multiplied(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kComplex64 || dtype == DType::kFloat64 ||
         dtype == DType::kFloat16 || dtype == DType::kBfloat16;
}

void check_dtypes(const OpCall& call, bool fused) {
  const DType dtype = call.input(0).dtype;
  const bool known = dtype == DType::kFloat32 || (!fused && is_multiplied(dtype));
  if (!known)
    call.fail_dtype(0,
                    fused ? "float32" : "float32, float64, float16, bfloat16, int32 or complex64");
  if (call.input(1).dtype != dtype) call.fail_dtype(1, name_of(dtype));
}

// Whether the operand is dense but for its matrices, which lie transposed.
bool lies_transposed(const Operand& x) {
  const std::size_t rank = x.shape.rank();
  if (x.dense || rank < 2) return false;
  IntList dims(x.shape.dims());
  Strides strides = x.strides;
  std::swap(dims[rank - 2], dims[rank - 1]);
  std::swap(strides[rank - 2], strides[rank - 1]);
  return is_dense(Shape(dims), strides);
}

// A matrix that lies transposed is taken as it is, the flag the other way round; any other strided
// operand is made dense. Whether the flag is to be turned.
bool turn_matrix(OpCall& call, std::size_t input) {
  const bool turned = lies_transposed(call.input(input));
  if (!turned) call.make_dense(input);
  return turned;
}

Product checked_product(OpCall& call) {
  Product product;
  product.transpose_a = call.boolean(kTransposeA);
  product.transpose_b = call.boolean(kTransposeB);
  const Matrix a = matrix_of(call, 0, product.transpose_a);
  const Matrix b = matrix_of(call, 1, product.transpose_b);
  const Shape& a_shape = call.input(0).shape;
  const Shape& b_shape = call.input(1).shape;
  call.check(a.columns == b.rows,
             "shapes {} and {} were given (transposed: {}, {}), inner extents that match are "
             "allowed, not {} and {}",
             a_shape, b_shape, product.transpose_a, product.transpose_b, a.columns, b.rows);
  product.transpose_a = product.transpose_a != turn_matrix(call, 0);
  product.transpose_b = product.transpose_b != turn_matrix(call, 1);
  product.rows = a.rows;
  product.inner = a.columns;
  product.columns = b.columns;
  product.rank = std::max(a_shape.rank(), b_shape.rank());
  if (product.rank > 2) {
    const Shape batch = broadcast(call, batch_of(a_shape), batch_of(b_shape));
    fill_batch(product.a_batch, batch_of(a_shape), product.batch_axes());
    fill_batch(product.b_batch, batch_of(b_shape), product.batch_axes());
    fill_batch(product.batch, batch, product.batch_axes());
  }
  return product;
}

void batch_mat_mul(OpCall& call) {
  check_dtypes(call, false);
  const Product& product = call.params(checked_product(call));
  call.make(call.input(0).dtype, result_of(product));
}

void fused_mat_mul(OpCall& call) {
  check_dtypes(call, true);
  Product& product = call.params(checked_product(call));
  const Shape result = result_of(product);
  product.epilogue =
      checked_epilogue(call, result, call.integer(attribute_at("_FusedMatMul", "activation")),
                       call.number(attribute_at("_FusedMatMul", "leakyreluAlpha")), false);
  call.make(DType::kFloat32, result);
}

}  // namespace

void add_products(MeaningTable& table) {
  table.set(op_id("BatchMatMul"), batch_mat_mul, Strided::kFirstTwo);
  table.set(op_id("_FusedMatMul"), fused_mat_mul, Strided::kFirstTwo);
}

}  // namespace ebb::ops
