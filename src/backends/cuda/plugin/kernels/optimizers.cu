// Updates of optimizers: all variables of a model in one launch, or one for each kMostVariables.
#include "backends/cuda/plugin/kernels/both.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/plans.cuh"
#include "ops/params/optimizers.hpp"

namespace ebb::cuda {
namespace {

using ops::kAdamInputs;
using ops::kAdamOutputs;
using ops::kAdamScalars;

constexpr int kWidth = 4;                                   // elements of a thread
constexpr std::int64_t kBlockElements = kThreads * kWidth;  // of one variable
constexpr int kMostVariables = 48;  // of a launch: a kernel's parameters have 4 KB

using Four = Pack<float, kWidth>;

struct Variable {
  const float* in[kAdamInputs];  // value, first moment, second moment, gradient
  float* out[kAdamOutputs];      // value, first moment, second moment
  std::int64_t count;
  std::uint32_t first_block;
  bool packs;  // every load of four elements is aligned
};

struct Work {
  Variable variables[kMostVariables];
  int count;
  ops::AdamParams numbers;
  const float* power1;
  const float* power2;
  float* next1;  // null: another launch writes them
  float* next2;
};
static_assert(sizeof(Work) <= 4096);

// Each product and sum is rounded for itself.
struct Update {
  ops::AdamParams numbers;
  float correction1, correction2;

  __device__ __forceinline__ void operator()(float& value, float& first, float& second,
                                             float gradient) const {
    first = sum(product(first, numbers.beta1), product(gradient, numbers.rest1));
    second =
        sum(product(second, numbers.beta2), product(product(gradient, gradient), numbers.rest2));
    const float mean = __fdiv_rn(first, correction1);
    const float spread = __fsqrt_rn(__fdiv_rn(second, correction2));
    const float change = __fdiv_rn(mean, sum(spread, numbers.epsilon));
    value = sum(product(change, numbers.negative_rate), value);
  }
};

__device__ __forceinline__ const Variable& variable_of(const Work& work, std::uint32_t block) {
  int i = work.count - 1;
  while (work.variables[i].first_block > block) --i;
  return work.variables[i];
}

__global__ void __launch_bounds__(kThreads) adam(const __grid_constant__ Work work) {
  const float power1 = *work.power1, power2 = *work.power2;
  if (work.next1 != nullptr && blockIdx.x == 0 && threadIdx.x == 0) {
    *work.next1 = product(power1, work.numbers.beta1);
    *work.next2 = product(power2, work.numbers.beta2);
  }
  const Update update{work.numbers, __fsub_rn(1.0F, power1), __fsub_rn(1.0F, power2)};
  const Variable& variable = variable_of(work, blockIdx.x);
  const std::int64_t begin = std::int64_t{blockIdx.x - variable.first_block} * kBlockElements;
  const std::int64_t mine = begin + std::int64_t{threadIdx.x} * kWidth;
  if (variable.packs && mine + kWidth <= variable.count) {
    Four in[kAdamInputs];
#pragma unroll
    for (std::size_t k = 0; k < kAdamInputs; ++k) {
      in[k] = *reinterpret_cast<const Four*>(variable.in[k] + mine);
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      update(in[0].element[i], in[1].element[i], in[2].element[i], in[3].element[i]);
    }
#pragma unroll
    for (std::size_t k = 0; k < kAdamOutputs; ++k) {
      *reinterpret_cast<Four*>(variable.out[k] + mine) = in[k];
    }
    return;
  }
  for (std::int64_t at = mine; at < mine + kWidth && at < variable.count; ++at) {
    float value = variable.in[0][at], first = variable.in[1][at], second = variable.in[2][at];
    update(value, first, second, variable.in[3][at]);
    variable.out[0][at] = value;
    variable.out[1][at] = first;
    variable.out[2][at] = second;
  }
}

Variable variable_at(const Call& call, std::size_t index, std::uint32_t first_block) {
  const std::size_t in = kAdamScalars + index * kAdamInputs;
  const std::size_t out = kAdamScalars + index * kAdamOutputs;
  Variable made{};
  made.count = elements(call.input(in));
  made.first_block = first_block;
  made.packs = true;
  for (std::size_t k = 0; k < kAdamInputs; ++k) {
    made.in[k] = call.in<float>(in + k);
    made.packs = made.packs && aligned<Four>(made.in[k]);
  }
  for (std::size_t k = 0; k < kAdamOutputs; ++k) {
    made.out[k] = call.out<float>(out + k);
    made.packs = made.packs && aligned<Four>(made.out[k]);
  }
  return made;
}

void launch_work(const Call& call, const Work& work, std::uint32_t blocks) {
  static const CUfunction kernel = driver_kernel(reinterpret_cast<const void*>(&adam));
  launch(kernel, std::max(blocks, 1u), call.stream(), "Adam's update", work);
}

void adam_update(Call& call) {
  Work work{};
  work.numbers = call.params<ops::AdamParams>();
  const std::size_t variables = work.numbers.variables;
  work.power1 = call.in<float>(0);
  work.power2 = call.in<float>(1);
  work.next1 = call.out<float>(0);
  work.next2 = call.out<float>(1);
  std::uint32_t blocks = 0;
  for (std::size_t i = 0; i < variables; ++i) {
    work.variables[work.count++] = variable_at(call, i, blocks);
    const std::int64_t count = work.variables[work.count - 1].count;
    blocks += static_cast<std::uint32_t>((count + kBlockElements - 1) / kBlockElements);
    if (work.count == kMostVariables && i + 1 < variables) {
      launch_work(call, work, blocks);
      work.count = 0;
      work.next1 = work.next2 = nullptr;
      blocks = 0;
    }
  }
  launch_work(call, work, blocks);
}

EBB_CUDA_KERNEL(AdamUpdate, adam_update);

}  // namespace
}  // namespace ebb::cuda
