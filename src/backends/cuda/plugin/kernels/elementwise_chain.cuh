// Chains of elementwise operations (ops/chain.hpp): one launch for all of them.
//
// A small program is part of the launch: loads of the inputs, then steps, each of which takes and makes registers.
// Registers are in shared memory, a column for each thread, since which one a step takes is known at run time
// only. All threads of a launch do the same step at the same time, so nothing diverges. Each step rounds for itself,
// as it does where it is an operation of its own: the numbers are the same to the bit.
#pragma once

#include <tuple>

#include "backends/cuda/plugin/kernels/elementwise_binary.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/plans.cuh"
#include "ops/params/chain.hpp"

namespace ebb::cuda::chains {

using ops::kMostDeviceChainInputs;
using ops::kMostDeviceChainSteps;

inline constexpr int kChainThreads = 128;
inline constexpr int kChainWidth = 4;  // elements of a thread, where there are many
inline constexpr int kBatch = 8;       // loads on their way at once
inline constexpr std::int64_t kMostElements = 0x7fffffff;  // a loops has 32 bits

// ---- what steps compute

struct Same {
  static constexpr ops::OpId kOp = ops::op_id("BroadcastTo");
  __device__ float operator()(float a, const Numbers&) const { return a; }
};
template <ops::OpId kId, int kValue>
struct Constant {
  static constexpr ops::OpId kOp = kId;
  __device__ float operator()(float, const Numbers&) const { return kValue; }
};
using Zeros = Constant<ops::op_id("ZerosLike"), 0>;
using Ones = Constant<ops::op_id("OnesLike"), 1>;

using Unary =
    List<unary::Abs, unary::Ceil, unary::ClipByValue, unary::Cos, unary::Elu, unary::Erf,
         unary::Exp, unary::Expm1, unary::Floor, unary::LeakyRelu, unary::Log, unary::Log1p,
         unary::Neg, unary::Reciprocal, unary::Relu, unary::Relu6, unary::Round, unary::Rsqrt,
         unary::Selu, unary::Sigmoid, unary::Sign, unary::Sin, unary::Softplus, unary::Sqrt,
         unary::Square, unary::Step, unary::Tanh, unary::LogicalNot, Same, Zeros, Ones>;
using Binary = List<binary::Add, binary::Sub, binary::Multiply, binary::RealDiv, binary::Maximum,
                    binary::Minimum, binary::SquaredDifference, binary::EluGrad, binary::Prelu,
                    binary::Equal, binary::NotEqual, binary::Greater, binary::GreaterEqual,
                    binary::Less, binary::LessEqual, binary::LogicalAnd, binary::LogicalOr>;

template <typename... Functions>
constexpr int length(List<Functions...>) {
  return sizeof...(Functions);
}
template <int i, typename... Functions>
std::tuple_element_t<i, std::tuple<Functions...>> at(List<Functions...>);

// Codes: the lists one after the other, then these.
constexpr int kUnaries = length(Unary());
constexpr int kFactorsOfOne = kUnaries + length(Binary());  // of a variance alone
constexpr int kFactors = kFactorsOfOne + 1;
constexpr int kSelect = kFactors + 1;
constexpr int kCodes = kSelect + 1;

template <int kFirst, typename... Functions>
int code_in(List<Functions...>, ops::OpId op) {
  int code = kFirst, found = -1;
  ((found = op == Functions::kOp ? code : found, ++code), ...);
  return found;
}

// Where the kernel has an operation; -1: nowhere.
inline int code_of(ops::OpId op, bool has_b) {
  if (op == ops::op_id("Select")) return kSelect;
  if (op == ops::kNormFactors) return has_b ? kFactors : kFactorsOfOne;
  const int unary = code_in<0>(Unary(), op);
  return unary >= 0 ? unary : code_in<kUnaries>(Binary(), op);
}

// ---- the launch

// Element i is at (i / inner) * outer_step + i % inner * inner_step: dense, repeated, or rows that lie apart.
struct Source {
  const float* data;
  Divisor inner;
  std::int32_t outer_step, inner_step;  // the latter 0 or 1
};

struct alignas(8) ChainStep {
  std::uint8_t code, a, b, c, to;
  std::int8_t result, part;  // -1: of none
};

struct alignas(16) ChainWork {
  Source sources[kMostDeviceChainInputs];
  ChainStep steps[kMostDeviceChainSteps + 1];  // one more, that is read and not done
  float2 numbers[kMostDeviceChainSteps];
  float* results[kMostDeviceChainSteps];
  float* joined;    // of parts that lie beside one another
  Divisor columns;  // of a part
  std::uint32_t joined_columns;
  std::uint32_t packs;
  int inputs, step_count;
};

template <int width>
using Floats = Pack<float, width>;

template <int width>
__device__ __forceinline__ Floats<width> load(const Source& source, std::uint32_t at) {
  const std::uint32_t i = at * width;
  const std::uint32_t row = source.inner.divide(i);
  const std::uint32_t column = i - row * source.inner.value;
  const float* from = source.data + (std::int64_t{row} * source.outer_step +
                                     std::int64_t{column} * source.inner_step);
  if constexpr (width > 1) {
    if (source.inner_step == 0) {  // one number for all
      Floats<width> repeated;
#pragma unroll
      for (int k = 0; k < width; ++k) repeated.element[k] = *from;
      return repeated;
    }
  }
  return *reinterpret_cast<const Floats<width>*>(from);
}

// Each rounded for itself: no sum is fused with the product before it.
__device__ __forceinline__ float factor(float variance, float scale, double epsilon) {
  return scale / sqrtf(__fadd_rn(variance, static_cast<float>(epsilon)));
}

template <int code>
__device__ __forceinline__ float computed(float a, float b, float c, const Numbers& numbers) {
  if constexpr (code < kUnaries) {
    return convert<float>(decltype(at<code>(Unary()))()(a, numbers));
  } else if constexpr (code < kFactorsOfOne) {
    return convert<float>(decltype(at<code - kUnaries>(Binary()))()(a, b));
  } else if constexpr (code == kSelect) {
    return a != 0 ? b : c;
  } else {
    return factor(a, code == kFactors ? b : 1.0F, numbers.value[0]);
  }
}

// By halves: a chain of comparisons would take longer than most steps, and so does a jump by a table.
template <int width, int low, int high>
__device__ __forceinline__ void compute(int code, const Numbers& numbers, const Floats<width>& a,
                                        const Floats<width>& b, const Floats<width>& c,
                                        Floats<width>& y) {
  constexpr int kMiddle = low + (high - low) / 2;
  if constexpr (high - low == 1) {
#pragma unroll
    for (int k = 0; k < width; ++k)
      y.element[k] = computed<low>(a.element[k], b.element[k], c.element[k], numbers);
  } else if (code < kMiddle) {
    compute<width, low, kMiddle>(code, numbers, a, b, c, y);
  } else {
    compute<width, kMiddle, high>(code, numbers, a, b, c, y);
  }
}

// A launch's parameters are in no cache yet: read one by one, as steps need them, they are waited for again and again. All
// threads together read them at once, which pays where there are many steps.
__device__ __forceinline__ const ChainWork& shared_copy(const ChainWork& given, int4* copied) {
  const int4* from = reinterpret_cast<const int4*>(&given);
  asm volatile("" : "+l"(from));  // an address as any other, so that each thread reads its own part
  for (unsigned i = threadIdx.x; i < sizeof(ChainWork) / sizeof(int4); i += kChainThreads)
    copied[i] = from[i];
  __syncthreads();
  return *reinterpret_cast<const ChainWork*>(copied);
}

template <int width>
__device__ __forceinline__ void store_part(const ChainWork& work, int part, std::uint32_t at,
                                           const Floats<width>& y) {
  const std::uint32_t i = at * width;
  const std::uint32_t row = work.columns.divide(i), own = work.columns.value;
  const std::int64_t to = std::int64_t{row} * work.joined_columns + (part * own + (i - row * own));
  *reinterpret_cast<Floats<width>*>(work.joined + to) = y;
}

template <int width>
__device__ __forceinline__ void do_chain(const ChainWork& work, Floats<width>* room) {
  const std::uint32_t at = blockIdx.x * kChainThreads + threadIdx.x;
  if (at >= work.packs) return;
  const auto reg = [&](int i) -> Floats<width>& { return room[i * kChainThreads + threadIdx.x]; };
  for (int i = 0; i < work.inputs; i += kBatch) {
    Floats<width> loaded[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (i + k < work.inputs) loaded[k] = load<width>(work.sources[i + k], at);
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (i + k < work.inputs) reg(i + k) = loaded[k];
    }
  }
  ChainStep step = work.steps[0];
  for (int i = 0; i < work.step_count; ++i) {
    const ChainStep next = work.steps[i + 1];  // on its way while this one is done
    const float2 own = work.numbers[i];
    const Floats<width> a = reg(step.a), b = reg(step.b), c = reg(step.c);
    Floats<width> y;
    compute<width, 0, kCodes>(step.code, Numbers{{own.x, own.y}}, a, b, c, y);
    reg(step.to) = y;
    if (step.result >= 0) reinterpret_cast<Floats<width>*>(work.results[step.result])[at] = y;
    if (step.part >= 0) store_part(work, step.part, at, y);
    step = next;
  }
}

template <int width, bool kCopies>
__global__ void __launch_bounds__(kChainThreads)
    run_chain(const __grid_constant__ ChainWork given) {
  extern __shared__ float4 room[];
  if constexpr (kCopies) {
    __shared__ int4 copied[sizeof(ChainWork) / sizeof(int4)];
    do_chain<width>(shared_copy(given, copied), reinterpret_cast<Floats<width>*>(room));
  } else {
    do_chain<width>(given, reinterpret_cast<Floats<width>*>(room));
  }
}

}  // namespace ebb::cuda::chains
