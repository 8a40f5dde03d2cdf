// Elementwise operations: dtypes of results, broadcasting.
#include "ops/elementwise.hpp"

#include <algorithm>

#include "ops/axes.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"

namespace ebb::ops {
namespace {

// The wider of two dtypes: what both convert to without losing their kind.
int width(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
      return 0;
    case DType::kUint8:
      return 1;
    case DType::kInt8:
      return 2;
    case DType::kInt32:
      return 3;
    case DType::kInt64:
      return 4;
    case DType::kFloat16:
      return 5;
    case DType::kBfloat16:
      return 6;
    case DType::kFloat32:
      return 7;
    case DType::kFloat64:
      return 8;
    default:
      return 9;
  }
}

DType wider(DType a, DType b) noexcept { return width(a) >= width(b) ? a : b; }

void refuse_complex(OpCall& call) {
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (call.input(i).dtype == DType::kComplex64) call.fail_dtype(i, "a real one");
  }
}

// A row that is gathered costs a good part of a copy. Where that would be paid again, for another
// operation (`uses`) or along an axis that the operand is broadcast over, or where the rows are
// short, the operand is copied once instead.
constexpr std::int64_t kShortestGathered = 16;
constexpr std::uint32_t kMostGathers = 1;

template <std::size_t K>
bool is_gathered_badly(const Loops<K>& loops, std::size_t k, const Operand& x, const Shape& out) {
  if (x.dense) [[likely]]
    return false;
  const std::int64_t step = loops.step[k][loops.axes - 1];
  if (step == 0 || step == 1) return false;
  return x.uses > kMostGathers || loops.extent[loops.axes - 1] < kShortestGathered ||
         elements(x.shape) != elements(out);
}

// The loops of the kernel; operands that they would gather badly are made dense first.
template <std::size_t K, typename Make>
void leave_loops(OpCall& call, const Shape& out, Make make) {
  Loops<K>& loops = call.params(Loops<K>(make()));
  for (std::size_t k = 0; k < K; ++k) {
    if (!is_gathered_badly(loops, k, call.input(k), out)) [[likely]]
      continue;
    call.make_dense(k);
    loops = make();
  }
}

void make_unary(OpCall& call, DType dtype) {
  const Operand& x = call.input(0);
  if (!x.dense) [[unlikely]]
    leave_loops<1>(call, x.shape, [&] { return loops_along<1>(x.shape, {strides_of(x)}); });
  call.make(dtype, x.shape);
}

void unary(OpCall& call) { make_unary(call, call.input(0).dtype); }

void real_unary(OpCall& call) {
  refuse_complex(call);
  unary(call);
}

bool is_floating(DType dtype) noexcept { return width(dtype) >= width(DType::kFloat16); }

// Integers become float32.
void floating_unary(OpCall& call) {
  const DType dtype = call.input(0).dtype;
  make_unary(call, is_floating(dtype) ? dtype : DType::kFloat32);
}

void real_floating_unary(OpCall& call) {
  refuse_complex(call);
  floating_unary(call);
}

void predicate(OpCall& call) {
  refuse_complex(call);
  make_unary(call, DType::kBool);
}

void complex_abs(OpCall& call) {
  if (call.input(0).dtype != DType::kComplex64) call.fail_dtype(0, "complex64");
  make_unary(call, DType::kFloat32);
}

void cast(OpCall& call) {
  const Operand& x = call.input(0);
  const DType to = call.dtype(attribute_at("Cast", "dtype"));
  if (x.dtype == to) {
    call.view(0, 0, to, x.shape, strides_of(x));
    return call.done();
  }
  make_unary(call, to);
}

// Both operands of one dtype, the result broadcast.
template <typename ResultOf>
void binary_as(OpCall& call, ResultOf result_of) {
  if (call.input(0).dtype != call.input(1).dtype) [[unlikely]] {
    const DType common = wider(call.input(0).dtype, call.input(1).dtype);
    call.convert_input(0, common);
    call.convert_input(1, common);
  }
  const Operand& a = call.input(0);
  const Operand& b = call.input(1);
  const Shape shape = broadcast(call, a.shape, b.shape);
  leave_loops<2>(call, shape, [&] { return binary_loops(a, b, shape); });
  call.make(result_of(a.dtype), shape);
}

void binary(OpCall& call) {
  binary_as(call, [](DType dtype) { return dtype; });
}

void real_binary(OpCall& call) {
  refuse_complex(call);
  binary(call);
}

void floating_binary(OpCall& call) {
  refuse_complex(call);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!is_floating(call.input(i).dtype)) call.convert_input(i, DType::kFloat32);
  }
  binary(call);
}

void integer_binary(OpCall& call) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (width(call.input(i).dtype) > width(DType::kInt64)) call.fail_dtype(i, "an integer one");
  }
  binary(call);
}

void floor_div(OpCall& call) {
  refuse_complex(call);
  binary_as(call, [](DType dtype) { return dtype == DType::kInt64 ? dtype : DType::kInt32; });
}

void comparison(OpCall& call) {
  refuse_complex(call);
  binary_as(call, [](DType) { return DType::kBool; });
}

void equality(OpCall& call) {
  binary_as(call, [](DType) { return DType::kBool; });
}

void add_n(OpCall& call) {
  const Operand& first = call.input(0);
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    const Operand& each = call.input(i);
    call.check(each.dtype == first.dtype && each.shape == first.shape,
               "input {} is {} {}, all are as the first: {} {}", i, name_of(each.dtype), each.shape,
               name_of(first.dtype), first.shape);
  }
  call.make(first.dtype, first.shape);
}

void elu_grad(OpCall& call) {
  refuse_complex(call);
  call.check(call.input(0).shape == call.input(1).shape, "shapes {} and {} were given, they differ",
             call.input(0).shape, call.input(1).shape);
  floating_binary(call);
}

void select(OpCall& call) {
  if (call.input(0).dtype != DType::kBool) call.convert_input(0, DType::kBool);
  const DType common = wider(call.input(1).dtype, call.input(2).dtype);
  for (std::size_t i = 1; i < 3; ++i) {
    if (call.input(i).dtype != common) call.convert_input(i, common);
  }
  const Shape& condition = call.input(0).shape;
  const Shape& t = call.input(1).shape;
  call.check(t == call.input(2).shape, "t is {} and e is {}, they must be alike", t,
             call.input(2).shape);
  if (condition.rank() != 0 && condition != t) {
    call.check(condition.rank() == 1 && t.rank() >= 1 && condition.dims()[0] == t.dims()[0],
               "the condition is {}, {}, its first extent or a scalar is allowed", condition, t);
  }
  leave_loops<3>(call, t, [&] {
    // A condition with fewer axes has a step of 0 along those that it lacks.
    return loops_along<3>(
        t, {strides_of(call.input(0)), strides_of(call.input(1)), strides_of(call.input(2))});
  });
  call.make(common, t);
}

}  // namespace

namespace {

// The operand's steps along the axes of the output, which it broadcasts to.
Strides broadcast_strides(const Operand& x, const Shape& out) noexcept {
  const Strides own = strides_of(x);
  const std::size_t missing = out.rank() - x.shape.rank();
  Strides along{};
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    along[missing + i] = x.shape.dims()[i] == 1 ? 0 : own[i];
  }
  return along;
}

}  // namespace

template <std::size_t K>
Loops<K> loops_along(const Shape& out, const std::array<Strides, K>& steps) noexcept {
  Loops<K> loops;
  loops.axes = 0;
  for (std::size_t i = 0; i < out.rank(); ++i) {
    const std::int64_t dim = out.dims()[i];
    if (dim == 1) continue;
    const std::size_t last = loops.axes - 1;
    // Extents of an empty tensor may be too large to be multiplied: such axes stay apart.
    std::int64_t joined = dim, reach = 0;
    bool joins = loops.axes > 0 && !__builtin_mul_overflow(loops.extent[last], dim, &joined);
    for (std::size_t k = 0; joins && k < K; ++k) {
      joins = !__builtin_mul_overflow(steps[k][i], dim, &reach) && loops.step[k][last] == reach;
    }
    const std::size_t at = joins ? last : loops.axes++;
    loops.extent[at] = joins ? joined : dim;
    for (std::size_t k = 0; k < K; ++k) loops.step[k][at] = steps[k][i];
  }
  if (loops.axes == 0) loops.extent[loops.axes++] = 1;  // one element
  return loops;
}

BinaryLoops binary_loops(const Operand& a, const Operand& b, const Shape& out) noexcept {
  if (a.shape == out && b.shape == out && a.dense && b.dense) [[likely]] {
    BinaryLoops loops;
    loops.extent[0] = elements(out);
    loops.step[0][0] = loops.step[1][0] = 1;
    return loops;
  }
  return loops_along<2>(out, {broadcast_strides(a, out), broadcast_strides(b, out)});
}

void add_elementwise(MeaningTable& table) {
  // They cost little where there is nothing to do, and are too small to be asked every time.
  constexpr Data kAlways = Data::kChecked;
  for (const char* name : {"Neg", "Square", "Reciprocal", "Sqrt", "Log", "Sin", "Cos", "Tanh",
                           "Sigmoid", "Rsqrt", "Expm1", "Sinh", "Cosh", "Tan"}) {
    table.set(find_op(name)->id, unary, Strided::kAll, kAlways);
  }
  for (const char* name : {"Abs",   "Acos",        "Acosh", "Asin",     "Asinh", "Atan", "Atanh",
                           "Ceil",  "ClipByValue", "Elu",   "Erf",      "Floor", "Relu", "Relu6",
                           "Round", "Selu",        "Sign",  "Softplus", "Step",  "Log1p"}) {
    table.set(find_op(name)->id, real_unary, Strided::kAll, kAlways);
  }
  table.set(op_id("Exp"), floating_unary, Strided::kAll, kAlways);
  table.set(op_id("LeakyRelu"), real_floating_unary, Strided::kAll, kAlways);
  for (const char* name : {"IsFinite", "IsInf", "IsNan", "LogicalNot"}) {
    table.set(find_op(name)->id, predicate, Strided::kAll, kAlways);
  }
  table.set(op_id("ComplexAbs"), complex_abs, Strided::kAll, kAlways);
  table.set(op_id("Cast"), cast, Strided::kAll, kAlways);
  for (const char* name : {"Add", "Sub", "Multiply", "RealDiv", "SquaredDifference", "Pow"}) {
    table.set(find_op(name)->id, binary, Strided::kAll, kAlways);
  }
  for (const char* name : {"Atan2", "Maximum", "Minimum", "Mod"}) {
    table.set(find_op(name)->id, real_binary, Strided::kAll, kAlways);
  }
  for (const char* name :
       {"Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "LogicalXor"}) {
    table.set(find_op(name)->id, comparison, Strided::kAll, kAlways);
  }
  table.set(op_id("Equal"), equality, Strided::kAll, kAlways);
  table.set(op_id("NotEqual"), equality, Strided::kAll, kAlways);
  table.set(op_id("FloorDiv"), floor_div, Strided::kAll, kAlways);
  table.set(op_id("BitwiseAnd"), integer_binary, Strided::kAll, kAlways);
  table.set(op_id("Prelu"), floating_binary, Strided::kAll, kAlways);
  table.set(op_id("EluGrad"), elu_grad, Strided::kAll, kAlways);
  table.set(op_id("AddN"), add_n);
  table.set(op_id("Select"), select, Strided::kAll, kAlways);
}

}  // namespace ebb::ops
