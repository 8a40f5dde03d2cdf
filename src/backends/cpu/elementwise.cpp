// Elementwise kernels: which row runs, over which part, on which thread.
#include "ops/elementwise.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/element.hpp"
#include "backends/cpu/families.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/rows.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::BinaryWalk;
using ops::op_id;
using ops::OpCall;

// Below this many elements a second thread costs more than it brings.
constexpr std::int64_t kCheapGrain = 128 << 10;
constexpr std::int64_t kCostlyGrain = 32 << 10;

// Those that cost more than reading and writing.
bool is_costly(ops::OpId id) noexcept {
  switch (id) {
    case op_id("Abs"):
    case op_id("Ceil"):
    case op_id("ClipByValue"):
    case op_id("Floor"):
    case op_id("LeakyRelu"):
    case op_id("Neg"):
    case op_id("Relu"):
    case op_id("Relu6"):
    case op_id("Round"):
    case op_id("Sqrt"):
    case op_id("Square"):
    case op_id("Step"):
      return false;
    default:
      return true;
  }
}

const UnaryRows& unary_rows() {
  static const UnaryRows table = [] {
    UnaryRows rows;
    add_scalar_unary_rows(rows);
    add_vector_unary_rows(rows);
    add_vector_math_rows(rows);
    return rows;
  }();
  return table;
}

const BinaryRows& binary_rows() {
  static const BinaryRows table = [] {
    BinaryRows rows;
    add_scalar_binary_rows(rows);
    add_vector_binary_rows(rows);
    add_vector_comparison_rows(rows);
    return rows;
  }();
  return table;
}

void unary(OpCall& call) {
  const Operand& x = call.input(0);
  ops::Output& y = call.output(0);
  const UnaryRow row = unary_rows().find(call.spec().id, x.dtype);
  if (row == nullptr) call.fail_dtype(0, "another one");
  const std::size_t in_size = size_of(x.dtype), out_size = size_of(y.dtype);
  double attributes[2] = {};
  for (std::size_t i = 0; i < 2 && i < call.spec().attribute_count(); ++i) {
    attributes[i] = call.number(i);
  }
  const std::int64_t grain = is_costly(call.spec().id) ? kCostlyGrain : kCheapGrain;
  parallel_for(ops::elements(y.shape), grain, [&](std::int64_t begin, std::int64_t end) {
    row(x.data + begin * static_cast<std::int64_t>(in_size),
        y.data + begin * static_cast<std::int64_t>(out_size), end - begin, attributes);
  });
}

struct BinaryRun {
  BinaryRow row;
  const std::byte* a;
  const std::byte* b;
  std::byte* out;
  std::int64_t in_size, out_size;
};

void run_flat(const BinaryRun& run, const BinaryWalk& walk) {
  const std::int64_t a_step = walk.a_step[0], b_step = walk.b_step[0];
  parallel_for(walk.extent[0], kCheapGrain, [&](std::int64_t begin, std::int64_t end) {
    run.row(run.a + begin * a_step * run.in_size, a_step, run.b + begin * b_step * run.in_size,
            b_step, run.out + begin * run.out_size, end - begin);
  });
}

// One row for each position of the outer axes.
void run_rows(const BinaryRun& run, const BinaryWalk& walk) {
  const std::size_t inner = walk.axes - 1;
  const std::int64_t length = walk.extent[inner];
  std::int64_t count = 1;
  for (std::size_t i = 0; i < inner; ++i) count *= walk.extent[i];
  const std::int64_t grain =
      std::max<std::int64_t>(1, kCheapGrain / std::max<std::int64_t>(1, length));
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) {
      std::int64_t a = 0, b = 0, rest = at;
      for (std::size_t i = inner; i-- > 0;) {
        const std::int64_t position = rest % walk.extent[i];
        rest /= walk.extent[i];
        a += position * walk.a_step[i];
        b += position * walk.b_step[i];
      }
      run.row(run.a + a * run.in_size, walk.a_step[inner], run.b + b * run.in_size,
              walk.b_step[inner], run.out + at * length * run.out_size, length);
    }
  });
}

void binary(OpCall& call) {
  const Operand& a = call.input(0);
  ops::Output& out = call.output(0);
  const BinaryRow row = binary_rows().find(call.spec().id, a.dtype);
  if (row == nullptr) [[unlikely]]
    call.fail_dtype(0, "another one");
  const BinaryRun run{row,
                      a.data,
                      call.input(1).data,
                      out.data,
                      static_cast<std::int64_t>(size_of(a.dtype)),
                      static_cast<std::int64_t>(size_of(out.dtype))};
  const BinaryWalk& walk = call.params<BinaryWalk>();
  if (ops::elements(out.shape) == 0) return;
  if (walk.axes == 1) [[likely]] {
    run_flat(run, walk);
  } else {
    run_rows(run, walk);
  }
}

void add_n(OpCall& call) {
  ops::Output& out = call.output(0);
  const auto size = static_cast<std::int64_t>(size_of(out.dtype));
  const BinaryRow row = binary_rows().find(op_id("Add"), out.dtype);
  parallel_for(ops::elements(out.shape), kCheapGrain, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t at = begin * size;
    if (call.inputs() == 1) {
      std::memcpy(out.data + at, call.input(0).data + at,
                  static_cast<std::size_t>((end - begin) * size));
    } else {
      row(call.input(0).data + at, 1, call.input(1).data + at, 1, out.data + at, end - begin);
    }
    for (std::size_t i = 2; i < call.inputs(); ++i) {
      row(out.data + at, 1, call.input(i).data + at, 1, out.data + at, end - begin);
    }
  });
}

void cast(OpCall& call) {
  const Operand& x = call.input(0);
  ops::Output& y = call.output(0);
  const std::int64_t count = ops::elements(y.shape);
  if (const CastRow row = vector_cast_row(x.dtype, y.dtype)) {
    const auto from = static_cast<std::int64_t>(size_of(x.dtype));
    const auto to = static_cast<std::int64_t>(size_of(y.dtype));
    return parallel_for(count, kCheapGrain, [&](std::int64_t begin, std::int64_t end) {
      row(x.data + begin * from, y.data + begin * to, end - begin);
    });
  }
  visit(x.dtype, [&]<typename From>(Type<From>) {
    visit(y.dtype, [&]<typename To>(Type<To>) {
      const From* from = reinterpret_cast<const From*>(x.data);
      To* to = reinterpret_cast<To*>(y.data);
      parallel_for(count, kCheapGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) to[i] = convert<To>(from[i]);
      });
    });
  });
}

void select(OpCall& call) {
  const ops::SelectWalk& walk = call.params<ops::SelectWalk>();
  const std::uint8_t* condition = call.in<std::uint8_t>(0);
  visit_size(call.output(0).dtype, [&]<typename T>(Type<T>) {
    const T* t = call.in<T>(1);
    const T* e = call.in<T>(2);
    T* out = call.out<T>(0);
    parallel_for(walk.count, kCheapGrain, [&](std::int64_t begin, std::int64_t end) {
      if (walk.one_condition) {
        std::copy(*condition != 0 ? t + begin : e + begin, *condition != 0 ? t + end : e + end,
                  out + begin);
      } else if (walk.run == 1) {
        for (std::int64_t i = begin; i < end; ++i) out[i] = condition[i] != 0 ? t[i] : e[i];
      } else {
        for (std::int64_t i = begin; i < end; ++i) {
          out[i] = condition[i / walk.run] != 0 ? t[i] : e[i];
        }
      }
    });
  });
}

}  // namespace

void add_elementwise(KernelTable& kernels) {
  for (ops::OpId id = op_id("Abs"); id <= op_id("Tanh"); ++id) kernels.set(id, unary);
  kernels.set(op_id("ComplexAbs"), unary);
  for (ops::OpId id = op_id("Add"); id <= op_id("Sub"); ++id) kernels.set(id, binary);
  kernels.set(op_id("AddN"), add_n);
  kernels.set(op_id("Cast"), cast);
  kernels.set(op_id("Select"), select);
}

}  // namespace ebb::cpu
