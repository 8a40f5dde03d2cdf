// Counting and adding by number.
#include "ops/counting.hpp"

#include <algorithm>

#include "backends/cpu/accumulate.hpp"
#include "backends/cpu/families.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

void check_numbers(const OpCall& call, std::int64_t count) {
  const auto* x = call.in<std::int32_t>(0);
  const auto* negative = std::find_if(x, x + count, [](std::int32_t each) { return each < 0; });
  call.check(negative == x + count, "element {} of x is {}, 0 and more are allowed", negative - x,
             negative == x + count ? 0 : *negative);
}

template <typename T>
void count_row(const std::int32_t* x, const T* weights, T* out,
               const ops::BincountWalk& walk) noexcept {
  const T one = convert<T>(1);
  for (std::int64_t i = 0; i < walk.length; ++i) {
    if (x[i] >= walk.size) continue;
    if (walk.binary) {
      out[x[i]] = one;
    } else {
      add_to(out[x[i]], walk.weighted ? weights[i] : one);
    }
  }
}

void bincount(OpCall& call) {
  const auto& walk = call.params<ops::BincountWalk>();
  check_numbers(call, walk.rows * walk.length);
  visit(call.output(0).dtype, [&]<typename T>(Type<T>) {
    T* out = call.out<T>(0);
    std::fill_n(out, walk.rows * walk.size, T{});
    for (std::int64_t row = 0; row < walk.rows; ++row) {
      const std::int64_t at = row * walk.length;
      count_row(call.in<std::int32_t>(0) + at, call.in<T>(1) + (walk.weighted ? at : 0),
                out + row * walk.size, walk);
    }
  });
}

void unsorted_segment_sum(OpCall& call) {
  const auto& walk = call.params<ops::SegmentSumWalk>();
  const auto* ids = call.in<std::int32_t>(1);
  visit(call.output(0).dtype, [&]<typename T>(Type<T>) {
    const T* x = call.in<T>(0);
    T* out = call.out<T>(0);
    std::fill_n(out, walk.segments * walk.length, T{});
    for (std::int64_t i = 0; i < walk.ids; ++i, x += walk.length) {
      if (ids[i] < 0 || ids[i] >= walk.segments) continue;
      T* sum = out + ids[i] * walk.length;
      for (std::int64_t j = 0; j < walk.length; ++j) add_to(sum[j], x[j]);
    }
  });
}

}  // namespace

void add_counting(KernelTable& kernels) {
  kernels.set(op_id("Bincount"), bincount);
  kernels.set(op_id("DenseBincount"), bincount);
  kernels.set(op_id("UnsortedSegmentSum"), unsorted_segment_sum);
}

}  // namespace ebb::cpu
