// Scans and counts.
#include "backends/cpu/accumulate.hpp"
#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/copy.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "ops/axes.hpp"
#include "ops/params/reductions.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

template <bool kProduct>
void scan(OpCall& call) {
  const ops::ScanParams& p = call.params<ops::ScanParams>();
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    using A = Arithmetic<T>;
    const T* x = call.in<T>(0);
    T* y = call.out<T>(0);
    for (std::int64_t at = 0; at < p.outer * p.inner; ++at) {
      const std::int64_t base = at / p.inner * p.count * p.inner + at % p.inner;
      A total = A(kProduct ? 1 : 0);
      for (std::int64_t i = 0; i < p.count; ++i) {
        const std::int64_t position = base + (p.reversed ? p.count - 1 - i : i) * p.inner;
        if (p.exclusive) y[position] = convert<T>(total);
        const A value = convert<A>(x[position]);
        total = kProduct ? wrapping_product(total, value) : wrapping_sum(total, value);
        if (!p.exclusive) y[position] = convert<T>(total);
      }
    }
  });
}

void bincount(OpCall& call) {
  const std::int64_t size =
      call.integer(ops::attribute_of_all("size", "Bincount", "DenseBincount"));
  const bool binary = call.spec().id == op_id("DenseBincount") &&
                      call.boolean(ops::attribute_at("DenseBincount", "binaryOutput"));
  const Operand& x = call.input(0);
  const std::size_t rank = x.shape.rank();
  const std::int64_t columns = x.shape.dims()[rank - 1];
  const std::int32_t* values = call.in<std::int32_t>(0);
  const bool weighted = ops::elements(call.input(1).shape) > 0;
  fill(call.output(0).dtype, call.output(0).data, ops::elements(call.output(0).shape), 0);
  visit(call.output(0).dtype, [&]<typename T>(Type<T>) {
    using A = Arithmetic<T>;
    const T* weights = call.in<T>(1);
    T* out = call.out<T>(0);
    for (std::int64_t i = 0; i < ops::elements(x.shape); ++i) {
      call.check(values[i] >= 0, "{} was given, at least 0 is allowed", values[i]);
      if (values[i] >= size) continue;
      T& bin = out[i / columns * size + values[i]];
      if (binary) {
        bin = convert<T>(A(1));
      } else {
        add_to(bin, weighted ? weights[i] : convert<T>(A(1)));
      }
    }
  });
}

void segment_sum(OpCall& call) {
  const Operand& ids = call.input(1);
  const std::int64_t segments =
      call.integer(ops::attribute_at("UnsortedSegmentSum", "numSegments"));
  const std::int64_t rows = ops::elements(ids.shape);
  const std::int64_t width =
      ops::extent(call.input(0).shape, ids.shape.rank(), call.input(0).shape.rank());
  const std::int32_t* to = call.in<std::int32_t>(1);
  fill(call.output(0).dtype, call.output(0).data, ops::elements(call.output(0).shape), 0);
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    using Out = std::conditional_t<std::is_same_v<T, Bool>, std::int32_t, T>;
    const T* x = call.in<T>(0);
    Out* out = call.out<Out>(0);
    for (std::int64_t i = 0; i < rows; ++i) {
      if (to[i] < 0 || to[i] >= segments) continue;  // dropped, as TensorFlow does
      for (std::int64_t j = 0; j < width; ++j) {
        add_to(out[to[i] * width + j], convert<Out>(x[i * width + j]));
      }
    }
  });
}

}  // namespace

void add_reductions_scans(KernelTable& kernels) {
  kernels.set(op_id("Cumsum"), scan<false>);
  kernels.set(op_id("Cumprod"), scan<true>);
  kernels.set(op_id("Bincount"), bincount);
  kernels.set(op_id("DenseBincount"), bincount);
  kernels.set(op_id("UnsortedSegmentSum"), segment_sum);
}

}  // namespace ebb::cpu
