// Elementwise kernels: which row runs, over which part, on which thread.
#include "ops/elementwise.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/elementwise_rows.hpp"
#include "backends/cpu/kernels/elementwise_strided_rows.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/parallel.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::BinaryLoops;
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

}  // namespace

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

namespace {

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
  if (!x.dense) {
    const StridedRows<1> rows(call.params<ops::Loops<1>>(), {x.data},
                              {static_cast<std::int64_t>(in_size)}, false);
    return rows.run(grain, [&](const RowPart<1>& part) {
      row(part.from[0], y.data + part.at * static_cast<std::int64_t>(out_size), part.count,
          attributes);
    });
  }
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

void run_flat(const BinaryRun& run, const BinaryLoops& loops) {
  const std::int64_t a_step = loops.step[0][0], b_step = loops.step[1][0];
  parallel_for(loops.extent[0], kCheapGrain, [&](std::int64_t begin, std::int64_t end) {
    run.row(run.a + begin * a_step * run.in_size, a_step, run.b + begin * b_step * run.in_size,
            b_step, run.out + begin * run.out_size, end - begin);
  });
}

// One row for each position of the outer axes.
void run_rows(const BinaryRun& run, const BinaryLoops& loops) {
  const std::size_t inner = loops.axes - 1;
  const std::int64_t length = loops.extent[inner];
  std::int64_t count = 1;
  for (std::size_t i = 0; i < inner; ++i) count *= loops.extent[i];
  const std::int64_t grain =
      std::max<std::int64_t>(1, kCheapGrain / std::max<std::int64_t>(1, length));
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) {
      std::int64_t a = 0, b = 0, rest = at;
      for (std::size_t i = inner; i-- > 0;) {
        const std::int64_t position = rest % loops.extent[i];
        rest /= loops.extent[i];
        a += position * loops.step[0][i];
        b += position * loops.step[1][i];
      }
      run.row(run.a + a * run.in_size, loops.step[0][inner], run.b + b * run.in_size,
              loops.step[1][inner], run.out + at * length * run.out_size, length);
    }
  });
}

// Some of the rows do not lie as BinaryRow takes them.
void run_gathered(const BinaryRun& run, const BinaryLoops& loops) {
  const StridedRows<2> rows(loops, {run.a, run.b}, {run.in_size, run.in_size}, true);
  rows.run(kCheapGrain, [&](const RowPart<2>& part) {
    run.row(part.from[0], part.step[0], part.from[1], part.step[1],
            run.out + part.at * run.out_size, part.count);
  });
}

bool lies_ready(const BinaryLoops& loops) {
  const auto is_0_or_1 = [](std::int64_t step) { return (step & ~std::int64_t{1}) == 0; };
  return is_0_or_1(loops.step[0][loops.axes - 1]) && is_0_or_1(loops.step[1][loops.axes - 1]);
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
  const BinaryLoops& loops = call.params<BinaryLoops>();
  if (ops::elements(out.shape) == 0) return;
  if (!lies_ready(loops)) [[unlikely]] {
    run_gathered(run, loops);
  } else if (loops.axes == 1) [[likely]] {
    run_flat(run, loops);
  } else {
    run_rows(run, loops);
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

// row(from, at, count) for each run of the operand's elements, dense or not.
template <typename Row>
void cast_rows(OpCall& call, const Row& row) {
  const Operand& x = call.input(0);
  const auto size = static_cast<std::int64_t>(size_of(x.dtype));
  if (!x.dense) {
    const StridedRows<1> rows(call.params<ops::Loops<1>>(), {x.data}, {size}, false);
    return rows.run(kCheapGrain,
                    [&](const RowPart<1>& part) { row(part.from[0], part.at, part.count); });
  }
  parallel_for(ops::elements(x.shape), kCheapGrain, [&](std::int64_t begin, std::int64_t end) {
    row(x.data + begin * size, begin, end - begin);
  });
}

void cast(OpCall& call) {
  const ops::Output& y = call.output(0);
  const DType from_type = call.input(0).dtype;
  if (const CastRow vector_row = vector_cast_row(from_type, y.dtype)) {
    const auto size = static_cast<std::int64_t>(size_of(y.dtype));
    return cast_rows(call, [&](const std::byte* from, std::int64_t at, std::int64_t count) {
      vector_row(from, y.data + at * size, count);
    });
  }
  visit(from_type, [&]<typename From>(Type<From>) {
    visit(y.dtype, [&]<typename To>(Type<To>) {
      To* to = reinterpret_cast<To*>(y.data);
      cast_rows(call, [&](const std::byte* row, std::int64_t at, std::int64_t count) {
        const From* from = reinterpret_cast<const From*>(row);
        for (std::int64_t i = 0; i < count; ++i) to[at + i] = convert<To>(from[i]);
      });
    });
  });
}

void select(OpCall& call) {
  if (ops::elements(call.output(0).shape) == 0) return;
  visit_size(call.output(0).dtype, [&]<typename T>(Type<T>) {
    T* const out = call.out<T>(0);
    const StridedRows<3> rows(call.params<ops::Loops<3>>(),
                              {call.input(0).data, call.input(1).data, call.input(2).data},
                              {1, sizeof(T), sizeof(T)}, true);
    rows.run(kCheapGrain, [&](const RowPart<3>& part) {
      const auto* condition = reinterpret_cast<const std::uint8_t*>(part.from[0]);
      const T* t = reinterpret_cast<const T*>(part.from[1]);
      const T* e = reinterpret_cast<const T*>(part.from[2]);
      T* to = out + part.at;
      if (part.step[0] == 0) {
        std::copy_n(*condition != 0 ? t : e, part.count, to);
      } else {
        for (std::int64_t i = 0; i < part.count; ++i) to[i] = condition[i] != 0 ? t[i] : e[i];
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
