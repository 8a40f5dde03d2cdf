// Elementwise operations: dtypes of results, broadcasting.
#include "ops/elementwise.hpp"

#include <algorithm>

#include "ops/axes.hpp"
#include "ops/families.hpp"

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

void unary(OpCall& call) { call.make(call.input(0).dtype, call.input(0).shape); }

void real_unary(OpCall& call) {
  refuse_complex(call);
  unary(call);
}

bool is_floating(DType dtype) noexcept { return width(dtype) >= width(DType::kFloat16); }

// Integers become float32.
void floating_unary(OpCall& call) {
  const Operand& x = call.input(0);
  call.make(is_floating(x.dtype) ? x.dtype : DType::kFloat32, x.shape);
}

void real_floating_unary(OpCall& call) {
  refuse_complex(call);
  floating_unary(call);
}

void predicate(OpCall& call) {
  refuse_complex(call);
  call.make(DType::kBool, call.input(0).shape);
}

void complex_abs(OpCall& call) {
  if (call.input(0).dtype != DType::kComplex64) call.fail_dtype(0, "complex64");
  call.make(DType::kFloat32, call.input(0).shape);
}

void cast(OpCall& call) {
  const Operand& x = call.input(0);
  const DType to = call.dtype(0);
  if (x.dtype == to) {
    call.view(0, 0, to, x.shape);
    return call.done();
  }
  call.make(to, x.shape);
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
  call.make(result_of(a.dtype), shape);
  call.params(binary_walk(a.shape, b.shape, shape));
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
               "input {} is {} {}, all are as the first: {} {}", i, name_of(each.dtype),
               each.shape.to_string(), name_of(first.dtype), first.shape.to_string());
  }
  call.make(first.dtype, first.shape);
}

void elu_grad(OpCall& call) {
  refuse_complex(call);
  call.check(call.input(0).shape == call.input(1).shape, "shapes {} and {} were given, they differ",
             call.input(0).shape.to_string(), call.input(1).shape.to_string());
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
  call.check(t == call.input(2).shape, "t is {} and e is {}, they must be alike", t.to_string(),
             call.input(2).shape.to_string());
  SelectWalk walk{.count = elements(t), .run = 1, .one_condition = condition.rank() == 0};
  if (!walk.one_condition && condition != t) {
    call.check(condition.rank() == 1 && t.rank() >= 1 && condition.dims()[0] == t.dims()[0],
               "the condition is {}, {}, its first extent or a scalar is allowed",
               condition.to_string(), t.to_string());
    walk.run = extent(t, 1, t.rank());
  }
  call.make(common, t);
  call.params(walk);
}

}  // namespace

BinaryWalk binary_walk(const Shape& a, const Shape& b, const Shape& out) noexcept {
  BinaryWalk walk;
  if (a == out && b == out) [[likely]] {
    walk.extent[0] = elements(out);
    walk.a_step[0] = walk.b_step[0] = 1;
    return walk;
  }
  // From the last axis on; an axis joins the one inside it where both operands go on as they did.
  std::array<std::int64_t, kMaxRank> extents{}, as{}, bs{};
  std::size_t axes = 0;
  std::int64_t a_next = 1, b_next = 1;
  for (std::size_t i = out.rank(); i-- > 0;) {
    const std::int64_t dim = out.dims()[i];
    if (dim == 1) continue;
    const std::size_t from_end = out.rank() - i;
    const bool a_there = from_end <= a.rank() && a.dims()[a.rank() - from_end] != 1;
    const bool b_there = from_end <= b.rank() && b.dims()[b.rank() - from_end] != 1;
    const std::int64_t a_step = a_there ? a_next : 0;
    const std::int64_t b_step = b_there ? b_next : 0;
    if (axes > 0 && a_step == as[axes - 1] * extents[axes - 1] &&
        b_step == bs[axes - 1] * extents[axes - 1]) {
      extents[axes - 1] *= dim;
    } else {
      extents[axes] = dim;
      as[axes] = a_step;
      bs[axes++] = b_step;
    }
    if (a_there) a_next *= dim;
    if (b_there) b_next *= dim;
  }
  if (axes == 0) {
    extents[axes++] = 1;  // one element
  }
  walk.axes = axes;
  for (std::size_t i = 0; i < axes; ++i) {
    walk.extent[i] = extents[axes - 1 - i];
    walk.a_step[i] = as[axes - 1 - i];
    walk.b_step[i] = bs[axes - 1 - i];
  }
  return walk;
}

void add_elementwise(MeaningTable& table) {
  for (const char* name : {"Neg", "Square", "Reciprocal", "Sqrt", "Log", "Sin", "Cos", "Tanh",
                           "Sigmoid", "Rsqrt", "Expm1", "Sinh", "Cosh", "Tan"}) {
    table.set(find_op(name)->id, unary);
  }
  for (const char* name : {"Abs",   "Acos",        "Acosh", "Asin",     "Asinh", "Atan", "Atanh",
                           "Ceil",  "ClipByValue", "Elu",   "Erf",      "Floor", "Relu", "Relu6",
                           "Round", "Selu",        "Sign",  "Softplus", "Step",  "Log1p"}) {
    table.set(find_op(name)->id, real_unary);
  }
  table.set(op_id("Exp"), floating_unary);
  table.set(op_id("LeakyRelu"), real_floating_unary);
  for (const char* name : {"IsFinite", "IsInf", "IsNan", "LogicalNot"}) {
    table.set(find_op(name)->id, predicate);
  }
  table.set(op_id("ComplexAbs"), complex_abs);
  table.set(op_id("Cast"), cast);
  for (const char* name : {"Add", "Sub", "Multiply", "RealDiv", "SquaredDifference", "Pow"}) {
    table.set(find_op(name)->id, binary);
  }
  for (const char* name : {"Atan2", "Maximum", "Minimum", "Mod"}) {
    table.set(find_op(name)->id, real_binary);
  }
  for (const char* name :
       {"Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "LogicalXor"}) {
    table.set(find_op(name)->id, comparison);
  }
  table.set(op_id("Equal"), equality);
  table.set(op_id("NotEqual"), equality);
  table.set(op_id("FloorDiv"), floor_div);
  table.set(op_id("BitwiseAnd"), integer_binary);
  table.set(op_id("Prelu"), floating_binary);
  table.set(op_id("EluGrad"), elu_grad);
  table.set(op_id("AddN"), add_n);
  table.set(op_id("Select"), select);
}

}  // namespace ebb::ops
