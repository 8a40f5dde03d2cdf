// Reductions: float32 sums and extremes with vectors, everything else one element at a time.
#include "ops/params/reductions.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/copy.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/kernels/reductions_rows.hpp"
#include "backends/cpu/parallel.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;
using ops::ReduceParams;

constexpr std::int64_t kGrain = 128 << 10;  // elements

// ---- what is done with two elements, and where it begins

// Integers wrap around.
template <typename A>
using Wrapping = std::conditional_t<std::is_integral_v<A>, std::uint64_t, A>;

template <typename A>
struct Add {
  static A first() { return A(0); }
  A operator()(A a, A b) const {
    return static_cast<A>(static_cast<Wrapping<A>>(a) + static_cast<Wrapping<A>>(b));
  }
};
template <typename A>
struct Multiply {
  static A first() { return A(1); }
  A operator()(A a, A b) const {
    return static_cast<A>(static_cast<Wrapping<A>>(a) * static_cast<Wrapping<A>>(b));
  }
};
template <typename A>
requires std::is_arithmetic_v<A>
struct Larger {
  static A first() {
    if constexpr (std::numeric_limits<A>::has_infinity) {
      return -std::numeric_limits<A>::infinity();
    } else {
      return std::numeric_limits<A>::lowest();
    }
  }
  A operator()(A a, A b) const { return a != a ? a : b != b ? b : b > a ? b : a; }
};
template <typename A>
requires std::is_arithmetic_v<A>
struct Smaller {
  static A first() {
    if constexpr (std::numeric_limits<A>::has_infinity) {
      return std::numeric_limits<A>::infinity();
    } else {
      return std::numeric_limits<A>::max();
    }
  }
  A operator()(A a, A b) const { return a != a ? a : b != b ? b : b < a ? b : a; }
};

// Sums of integers are exact in 64 bits, and wrap around when they are stored.
template <typename T>
using Accumulator =
    std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, Bool>, std::int64_t,
                       std::conditional_t<kIsComplex<T>, std::complex<double>, double>>;

template <typename A, typename T>
A widened(T value) {
  if constexpr (kIsComplex<T>) {
    return A(value);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return A(value.value);
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>) {
    return A(static_cast<float>(value));
  } else {
    return A(value);
  }
}

template <typename Out, typename A>
Out narrowed(A value) {
  if constexpr (kIsComplex<Out>) {
    return Out(static_cast<float>(value.real()), static_cast<float>(value.imag()));
  } else {
    return convert<Out>(value);
  }
}

const std::byte* gathered(OpCall& call, const ReduceParams& params) {
  const Operand& x = call.input(0);
  if (!params.gathers) return x.data;
  std::byte* copied = call.workspace(bytes_of(x.shape, size_of(x.dtype)));
  copy(params.plan, size_of(x.dtype), x.data, copied);
  return copied;
}

template <typename T, typename Out, template <typename> class Step>
void reduce_each(const T* x, Out* out, const ReduceParams& p, double scale) {
  using A = Accumulator<T>;
  const std::int64_t results = p.outer * p.inner;
  const std::int64_t grain =
      std::max<std::int64_t>(1, kGrain / 8 / std::max<std::int64_t>(1, p.count));
  parallel_for(results, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) {
      const T* from = x + at / p.inner * p.count * p.inner + at % p.inner;
      A total = Step<A>::first();
      for (std::int64_t i = 0; i < p.count; ++i)
        total = Step<A>()(total, widened<A>(from[i * p.inner]));
      if constexpr (!std::is_integral_v<A>) total *= scale;
      out[at] = narrowed<Out>(total);
    }
  });
}

// ---- float32 with vectors

// One long run: each thread its part, the parts together at last.
template <typename Row, typename Join>
auto reduce_run(const float* x, std::int64_t count, Row row, Join join) {
  constexpr std::int64_t kMostParts = 64;
  const std::int64_t parts = std::clamp<std::int64_t>(count / (64 << 10), 1, kMostParts);
  if (parts == 1) return row(x, count);
  const std::int64_t share = (count + parts - 1) / parts;
  std::array<decltype(row(x, count)), kMostParts> partial;
  parallel_for(parts, std::max<std::int64_t>(1, kGrain / share),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   partial[static_cast<std::size_t>(i)] =
                       row(x + i * share, std::min(share, count - i * share));
                 }
               });
  return join(partial.data(), (count + share - 1) / share);
}

// finish: what is stored of a row's result.
template <typename Row, typename Join, typename Finish>
void reduce_rows(const float* x, float* out, const ReduceParams& p, Row row, Join join,
                 Finish finish) {
  if (p.outer == 1) {
    out[0] = finish(reduce_run(x, p.count, row, join));
    return;
  }
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / p.count);
  parallel_for(p.outer, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = finish(row(x + i * p.count, p.count));
  });
}

constexpr std::int64_t kStrip = 2048;  // columns that stay in the cache

// Down columns whole rows are added: sum(from, to, width) for each strip of columns.
template <typename Sum>
void for_each_strip(const float* x, float* out, const ReduceParams& p, Sum sum) {
  const std::int64_t strip = std::min(p.inner, kStrip);
  const std::int64_t strips = (p.inner + strip - 1) / strip;
  parallel_for(p.outer * strips, std::max<std::int64_t>(1, kGrain / (p.count * strip)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t at = begin; at < end; ++at) {
                   const std::int64_t column = at % strips * strip;
                   sum(x + at / strips * p.count * p.inner + column,
                       out + at / strips * p.inner + column, std::min(strip, p.inner - column));
                 }
               });
}

void sum_columns(const float* x, float* out, const ReduceParams& p) {
  const auto add_to = float_reductions().add_to;
  for_each_strip(x, out, p, [&](const float* from, float* to, std::int64_t width) {
    std::copy(from, from + width, to);
    for (std::int64_t i = 1; i < p.count; ++i) add_to(from + i * p.inner, to, width);
  });
}

void mean_columns(const float* x, float* out, const ReduceParams& p) {
  const auto add_to = float_reductions().wide_add_to;
  for_each_strip(x, out, p, [&](const float* from, float* to, std::int64_t width) {
    std::array<double, kStrip> sums{};
    for (std::int64_t i = 0; i < p.count; ++i) add_to(from + i * p.inner, sums.data(), width);
    for (std::int64_t i = 0; i < width; ++i) {
      to[i] = static_cast<float>(sums[static_cast<std::size_t>(i)] / static_cast<double>(p.count));
    }
  });
}

// In float64, so that the mean of equal numbers is that number.
void mean_floats(const float* x, float* out, const ReduceParams& p) {
  if (p.inner > 1) return mean_columns(x, out, p);
  const auto all = [](const double* sums, std::int64_t count) {
    return std::accumulate(sums, sums + count, 0.0);
  };
  reduce_rows(x, out, p, float_reductions().wide_sum, all,
              [&](double sum) { return static_cast<float>(sum / static_cast<double>(p.count)); });
}

bool reduce_floats(OpCall& call, const ReduceParams& p, const float* x) {
  const ops::OpId id = call.spec().id;
  float* out = call.out<float>(0);
  const FloatReductions& rows = float_reductions();
  const bool sums = id == op_id("Sum");
  if (p.count == 0 || p.outer * p.inner == 0) return false;
  if (id == op_id("Mean")) {
    mean_floats(x, out, p);
  } else if (sums && p.inner > 1) {
    sum_columns(x, out, p);
  } else if (p.inner == 1 && (sums || id == op_id("Max") || id == op_id("Min"))) {
    const auto row = sums ? rows.sum : id == op_id("Max") ? rows.max : rows.min;
    reduce_rows(x, out, p, row, row, [](float result) { return result; });
  } else {
    return false;
  }
  return true;
}

template <template <typename> class Step>
void reduce(OpCall& call) {
  const ReduceParams& p = call.params<ReduceParams>();
  const std::byte* x = gathered(call, p);
  const double scale = call.spec().id == op_id("Mean") ? 1.0 / static_cast<double>(p.count) : 1.0;
  if (call.input(0).dtype == DType::kFloat32 &&
      reduce_floats(call, p, reinterpret_cast<const float*>(x))) {
    return;
  }
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    using Out = std::conditional_t<std::is_same_v<T, Bool>, std::int32_t, T>;
    if constexpr (requires(Accumulator<T> a) { Step<Accumulator<T>>()(a, a); }) {
      if (call.output(0).dtype == DType::kBool) {
        reduce_each<T, Bool, Step>(reinterpret_cast<const T*>(x), call.out<Bool>(0), p, scale);
      } else {
        reduce_each<T, Out, Step>(reinterpret_cast<const T*>(x), call.out<Out>(0), p, scale);
      }
    }
  });
}

template <bool kMax>
void arg_extreme(OpCall& call) {
  const ReduceParams& p = call.params<ReduceParams>();
  std::int32_t* out = call.out<std::int32_t>(0);
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    if constexpr (!kIsComplex<T>) {
      const T* x = call.in<T>(0);
      const std::int64_t grain =
          std::max<std::int64_t>(1, kGrain / 4 / std::max<std::int64_t>(1, p.count));
      parallel_for(p.outer * p.inner, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t at = begin; at < end; ++at) {
          const T* from = x + at / p.inner * p.count * p.inner + at % p.inner;
          auto best = convert<Arithmetic<T>>(from[0]);
          std::int64_t where = 0;
          for (std::int64_t i = 1; i < p.count; ++i) {
            const auto value = convert<Arithmetic<T>>(from[i * p.inner]);
            if (kMax ? value > best : value < best) {
              best = value;
              where = i;
            }
          }
          out[at] = static_cast<std::int32_t>(where);
        }
      });
    }
  });
}

}  // namespace

void add_reductions(KernelTable& kernels) {
  kernels.set(op_id("Sum"), reduce<Add>);
  kernels.set(op_id("Mean"), reduce<Add>);
  kernels.set(op_id("Prod"), reduce<Multiply>);
  kernels.set(op_id("Max"), reduce<Larger>);
  kernels.set(op_id("Min"), reduce<Smaller>);
  kernels.set(op_id("All"), reduce<Smaller>);
  kernels.set(op_id("Any"), reduce<Add>);  // of booleans: not 0 where one of them is
  kernels.set(op_id("ArgMax"), arg_extreme<true>);
  kernels.set(op_id("ArgMin"), arg_extreme<false>);
}

}  // namespace ebb::cpu
