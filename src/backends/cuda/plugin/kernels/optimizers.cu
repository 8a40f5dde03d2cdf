// Updates of optimizers: all variables of a model in one launch, or one for each kMostVariables.
#include "backends/cuda/plugin/kernels/both.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/plans.cuh"
#include "ops/params/optimizers.hpp"

namespace ebb::cuda {
namespace {

using ops::UpdateForm;

constexpr int kWidth = 4;                                   // elements of a thread
constexpr std::int64_t kBlockElements = kThreads * kWidth;  // of one variable
constexpr int kMostScalars = 2;

using Four = Pack<float, kWidth>;

// ---- what is done to an element (ops/params/optimizers.hpp): each product and sum is rounded for
// itself. `kept` is the value and what the optimizer keeps, before and after.

__device__ __forceinline__ float mixed(float old, float share, float now, float rest) {
  return sum(product(old, share), product(now, rest));
}
__device__ __forceinline__ float larger(float a, float b) {
  return a > b || a != a ? a : b;  // NaN wins
}

struct Adam {
  using Params = ops::AdamParams;
  static constexpr UpdateForm kForm = ops::kAdam;
  Params numbers;
  float correction1, correction2;

  __device__ Adam(const Params& given, const float* scalars) : numbers(given) {
    correction1 = __fsub_rn(1.0F, scalars[0]);
    correction2 = __fsub_rn(1.0F, scalars[1]);
  }
  static __device__ void next(const Params& numbers, const float* scalars, float* const* to) {
    *to[0] = product(scalars[0], numbers.beta1);
    *to[1] = product(scalars[1], numbers.beta2);
  }
  __device__ __forceinline__ void operator()(float* kept, float gradient) const {
    kept[1] = mixed(kept[1], numbers.beta1, gradient, numbers.rest1);
    kept[2] = mixed(kept[2], numbers.beta2, product(gradient, gradient), numbers.rest2);
    const float mean = __fdiv_rn(kept[1], correction1);
    const float spread = __fsqrt_rn(__fdiv_rn(kept[2], correction2));
    const float change = __fdiv_rn(mean, sum(spread, numbers.epsilon));
    kept[0] = sum(product(change, numbers.negative_rate), kept[0]);
  }
};

// One that leaves its scalars as they are.
struct KeepsScalars {
  template <typename Params>
  static __device__ void next(const Params&, const float*, float* const*) {}
};

struct Sgd : KeepsScalars {
  using Params = ops::SgdParams;
  static constexpr UpdateForm kForm = ops::kSgd;
  float negative_rate;

  __device__ Sgd(const Params&, const float* scalars) : negative_rate(scalars[0]) {}
  __device__ __forceinline__ void operator()(float* kept, float gradient) const {
    kept[0] = sum(product(negative_rate, gradient), kept[0]);
  }
};

struct Momentum : KeepsScalars {
  using Params = ops::MomentumParams;
  static constexpr UpdateForm kForm = ops::kMomentum;
  float negative_rate, momentum;
  bool nesterov;

  __device__ Momentum(const Params& given, const float* scalars)
      : negative_rate(scalars[0]), momentum(scalars[1]), nesterov(given.nesterov != 0) {}
  __device__ __forceinline__ void operator()(float* kept, float gradient) const {
    kept[1] = sum(product(momentum, kept[1]), gradient);
    const float change = nesterov ? sum(gradient, product(kept[1], momentum)) : kept[1];
    kept[0] = sum(product(negative_rate, change), kept[0]);
  }
};

struct Adagrad : KeepsScalars {
  using Params = ops::AdagradParams;
  static constexpr UpdateForm kForm = ops::kAdagrad;
  Params numbers;

  __device__ Adagrad(const Params& given, const float*) : numbers(given) {}
  __device__ __forceinline__ void operator()(float* kept, float gradient) const {
    kept[1] = sum(kept[1], product(gradient, gradient));
    const float change = __fdiv_rn(gradient, __fsqrt_rn(sum(kept[1], numbers.epsilon)));
    kept[0] = sum(product(change, numbers.negative_rate), kept[0]);
  }
};

struct Adadelta : KeepsScalars {
  using Params = ops::AdadeltaParams;
  static constexpr UpdateForm kForm = ops::kAdadelta;
  Params numbers;

  __device__ Adadelta(const Params& given, const float*) : numbers(given) {}
  __device__ __forceinline__ float root(float value) const {
    return __fsqrt_rn(sum(value, numbers.epsilon));
  }
  __device__ __forceinline__ void operator()(float* kept, float gradient) const {
    const float change = product(__fdiv_rn(root(kept[2]), root(kept[1])), gradient);
    kept[1] = mixed(kept[1], numbers.rho, product(gradient, gradient), numbers.rest);
    kept[2] = mixed(kept[2], numbers.rho, product(change, change), numbers.rest);
    kept[0] = sum(product(change, numbers.negative_rate), kept[0]);
  }
};

struct Adamax {
  using Params = ops::AdamaxParams;
  static constexpr UpdateForm kForm = ops::kAdamax;
  Params numbers;
  float corrected_rate;  // negative, decayed

  __device__ Adamax(const Params& given, const float* scalars) : numbers(given) {
    const float decayed = sum(product(scalars[1], numbers.decay), 1.0F);
    corrected_rate =
        __fdiv_rn(__fdiv_rn(numbers.negative_rate, decayed), __fsub_rn(1.0F, scalars[0]));
  }
  static __device__ void next(const Params& numbers, const float* scalars, float* const* to) {
    *to[0] = product(scalars[0], numbers.beta1);
    *to[1] = sum(scalars[1], 1.0F);
  }
  __device__ __forceinline__ void operator()(float* kept, float gradient) const {
    kept[1] = mixed(kept[1], numbers.beta1, gradient, numbers.rest1);
    kept[2] = larger(product(kept[2], numbers.beta2), fabsf(gradient));
    const float change = __fdiv_rn(kept[1], sum(kept[2], numbers.epsilon));
    kept[0] = sum(product(corrected_rate, change), kept[0]);
  }
};

template <bool kCentered>
struct RmsProp : KeepsScalars {
  using Params = ops::RmsPropParams;
  static constexpr UpdateForm kForm = kCentered ? ops::kCenteredRmsProp : ops::kRmsProp;
  Params numbers;

  __device__ RmsProp(const Params& given, const float*) : numbers(given) {}
  __device__ __forceinline__ void operator()(float* kept, float gradient) const {
    kept[1] = mixed(kept[1], numbers.decay, product(gradient, gradient), numbers.rest);
    float under_root;
    if constexpr (kCentered) {
      kept[3] = mixed(kept[3], numbers.decay, gradient, numbers.rest);
      under_root = __fsub_rn(kept[1], sum(product(kept[3], kept[3]), numbers.epsilon));
    } else {
      under_root = sum(kept[1], numbers.epsilon);
    }
    const float change = __fdiv_rn(product(gradient, numbers.rate), __fsqrt_rn(under_root));
    kept[2] = sum(product(kept[2], numbers.momentum), change);
    kept[0] = __fsub_rn(kept[0], kept[2]);
  }
};

// ---- the launch

template <typename Rule>
struct Variable {
  const float* in[Rule::kForm.inputs];  // value, what is kept, gradient
  float* out[Rule::kForm.outputs()];    // value, what is kept
  std::int64_t count;
  std::uint32_t first_block;
  bool packs;  // every load of four elements is aligned
};

template <typename Rule>
struct Work {
  static constexpr int kMostVariables = Rule::kForm.inputs > 4 ? 40 : 48;

  Variable<Rule> variables[kMostVariables];
  int count;
  bool last;  // the scalars of the next step are this launch's to write
  typename Rule::Params numbers;
  const float* scalars[kMostScalars];
  float* next[kMostScalars];
};

template <typename Rule>
__device__ __forceinline__ const Variable<Rule>& variable_of(const Work<Rule>& work,
                                                             std::uint32_t block) {
  int i = work.count - 1;
  while (work.variables[i].first_block > block) --i;
  return work.variables[i];
}

template <typename Rule>
__global__ void __launch_bounds__(kThreads) update(const __grid_constant__ Work<Rule> work) {
  constexpr std::size_t kKept = Rule::kForm.outputs();
  float scalars[kMostScalars] = {};
#pragma unroll
  for (int k = 0; k < static_cast<int>(Rule::kForm.scalars); ++k) scalars[k] = *work.scalars[k];
  if (work.last && blockIdx.x == 0 && threadIdx.x == 0) {
    Rule::next(work.numbers, scalars, work.next);
  }
  const Rule rule(work.numbers, scalars);
  const Variable<Rule>& variable = variable_of(work, blockIdx.x);
  const std::int64_t begin = std::int64_t{blockIdx.x - variable.first_block} * kBlockElements;
  const std::int64_t mine = begin + std::int64_t{threadIdx.x} * kWidth;
  if (variable.packs && mine + kWidth <= variable.count) {
    Four in[Rule::kForm.inputs];
#pragma unroll
    for (std::size_t k = 0; k < Rule::kForm.inputs; ++k) {
      in[k] = *reinterpret_cast<const Four*>(variable.in[k] + mine);
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      float kept[kKept];
#pragma unroll
      for (std::size_t k = 0; k < kKept; ++k) kept[k] = in[k].element[i];
      rule(kept, in[kKept].element[i]);
#pragma unroll
      for (std::size_t k = 0; k < kKept; ++k) in[k].element[i] = kept[k];
    }
#pragma unroll
    for (std::size_t k = 0; k < kKept; ++k) {
      *reinterpret_cast<Four*>(variable.out[k] + mine) = in[k];
    }
    return;
  }
  for (std::int64_t at = mine; at < mine + kWidth && at < variable.count; ++at) {
    float kept[kKept];
#pragma unroll
    for (std::size_t k = 0; k < kKept; ++k) kept[k] = variable.in[k][at];
    rule(kept, variable.in[kKept][at]);
#pragma unroll
    for (std::size_t k = 0; k < kKept; ++k) variable.out[k][at] = kept[k];
  }
}

template <typename Rule>
Variable<Rule> variable_at(const Call& call, std::size_t index, std::uint32_t first_block) {
  const std::size_t in = Rule::kForm.first_input(index), out = Rule::kForm.first_output(index);
  Variable<Rule> made{};
  made.count = elements(call.input(in));
  made.first_block = first_block;
  made.packs = true;
  for (std::size_t k = 0; k < Rule::kForm.inputs; ++k) {
    made.in[k] = call.in<float>(in + k);
    made.packs = made.packs && aligned<Four>(made.in[k]);
  }
  for (std::size_t k = 0; k < Rule::kForm.outputs(); ++k) {
    made.out[k] = call.out<float>(out + k);
    made.packs = made.packs && aligned<Four>(made.out[k]);
  }
  return made;
}

template <typename Rule>
void launch_work(const Call& call, const Work<Rule>& work, std::uint32_t blocks) {
  static_assert(sizeof(Work<Rule>) <= 4096);  // what a kernel's parameters have
  static const CUfunction kernel = driver_kernel(reinterpret_cast<const void*>(&update<Rule>));
  launch(kernel, std::max(blocks, 1u), call.stream(), "an optimizer's update", work);
}

template <typename Rule>
void update_all(Call& call) {
  Work<Rule> work{};
  work.numbers = call.params<typename Rule::Params>();
  const std::size_t variables = work.numbers.variables;
  for (int k = 0; k < static_cast<int>(Rule::kForm.scalars); ++k)
    work.scalars[k] = call.in<float>(k);
  for (int k = 0; k < static_cast<int>(Rule::kForm.new_scalars); ++k)
    work.next[k] = call.out<float>(k);
  std::uint32_t blocks = 0;
  for (std::size_t i = 0; i < variables; ++i) {
    work.variables[work.count++] = variable_at<Rule>(call, i, blocks);
    const std::int64_t count = work.variables[work.count - 1].count;
    blocks += static_cast<std::uint32_t>((count + kBlockElements - 1) / kBlockElements);
    if (work.count == Work<Rule>::kMostVariables && i + 1 < variables) {
      launch_work(call, work, blocks);
      work.count = 0;
      blocks = 0;
    }
  }
  work.last = true;
  launch_work(call, work, blocks);
}

void rms_prop_update(Call& call) {
  if (call.params<ops::RmsPropParams>().centered != 0) {
    update_all<RmsProp<true>>(call);
  } else {
    update_all<RmsProp<false>>(call);
  }
}

EBB_CUDA_KERNEL(AdamUpdate, update_all<Adam>);
EBB_CUDA_KERNEL(SgdUpdate, update_all<Sgd>);
EBB_CUDA_KERNEL(MomentumUpdate, update_all<Momentum>);
EBB_CUDA_KERNEL(AdagradUpdate, update_all<Adagrad>);
EBB_CUDA_KERNEL(AdadeltaUpdate, update_all<Adadelta>);
EBB_CUDA_KERNEL(AdamaxUpdate, update_all<Adamax>);
EBB_CUDA_KERNEL(RmsPropUpdate, rms_prop_update);

}  // namespace
}  // namespace ebb::cuda
