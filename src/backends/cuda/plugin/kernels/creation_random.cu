// Random tensors. With a seed the numbers are the CPU's, and one block draws them one after the
// other; a seed of 0 is a new one each time, and every element is drawn for itself.
#include <bit>
#include <random>

#include "backends/cuda/plugin/kernels/element.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/mersenne.cuh"

namespace ebb::cuda {
namespace {

using mersenne::kShift;
using mersenne::kState;
using mersenne::State;

struct Target {
  DType dtype;
  void* out;
  std::int64_t count;
  double low, span;  // or mean and deviation
  __device__ void put(std::int64_t i, double value) const {
    store(dtype, out, i, sum(low, product(span, value)));
  }
};

constexpr int kDrawers = 320;  // threads; kState of them draw

// The next kState words of the generator, in order. Every thread of the block calls it.
__device__ void next_words(std::uint64_t* word) {
  const int i = threadIdx.x;
  std::uint64_t made = 0;
  if (i < kShift) made = mersenne::twisted(word[i], word[i + 1], word[i + kShift]);
  __syncthreads();
  if (i < kShift) word[i] = made;
  __syncthreads();
  if (i >= kShift && i < kState) {
    made = mersenne::twisted(word[i], word[i + 1 == kState ? 0 : i + 1], word[i - kShift]);
  }
  __syncthreads();
  if (i >= kShift && i < kState) word[i] = made;
  __syncthreads();
}

__device__ void take_state(const State& state, std::uint64_t* word) {
  if (threadIdx.x < kState) word[threadIdx.x] = state.word[threadIdx.x];
  __syncthreads();
}

__global__ void __launch_bounds__(kDrawers) draw_uniform(State state, Target target) {
  __shared__ std::uint64_t word[kState];
  take_state(state, word);
  for (std::int64_t base = 0; base < target.count; base += kState) {
    next_words(word);
    const std::int64_t i = base + threadIdx.x;
    if (threadIdx.x < kState && i < target.count) {
      target.put(i, mersenne::canonical(mersenne::tempered(word[threadIdx.x])));
    }
  }
}

// Rejected attempts are closed up: each thread of an accepted one learns how many came before it.
__global__ void __launch_bounds__(kDrawers)
    draw_normal(State state, Target target, bool truncated) {
  constexpr int kWarps = kDrawers / 32;
  __shared__ std::uint64_t word[kState];
  __shared__ int counts[kWarps];
  take_state(state, word);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (std::int64_t base = 0; base < target.count;) {
    next_words(word);
    double values[2];
    int kept = 0;
    if (threadIdx.x < kShift) {
      const auto attempt = mersenne::polar(mersenne::tempered(word[2 * threadIdx.x]),
                                           mersenne::tempered(word[2 * threadIdx.x + 1]));
      if (attempt.accepted) {
        if (!truncated || fabs(attempt.first) <= 2) values[kept++] = attempt.first;
        if (!truncated || fabs(attempt.second) <= 2) values[kept++] = attempt.second;
      }
    }
    int before = kept;  // sum over the lanes up to this one
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(~0u, before, step);
      if (lane >= step) before += other;
    }
    if (lane == 31) counts[warp] = before;
    __syncthreads();
    int total = 0, earlier = 0;
    for (int i = 0; i < kWarps; ++i) {
      if (i < warp) earlier += counts[i];
      total += counts[i];
    }
    for (int i = 0; i < kept; ++i) {
      const std::int64_t at = base + earlier + before - kept + i;
      if (at < target.count) target.put(at, values[i]);
    }
    base += total;
    __syncthreads();
  }
}

// ---- a new seed each time: a hash of the element's number

__device__ std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
__device__ double unit(std::uint64_t key, std::int64_t i) {
  return mersenne::canonical(
      mixed(key + mixed(static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u + key)));
}

struct Uniform {
  Target target;
  std::uint64_t key;
  __device__ void operator()(std::int64_t i) const { target.put(i, unit(key, i)); }
};

struct Normal {
  Target target;
  std::uint64_t key;
  bool truncated;
  __device__ void operator()(std::int64_t i) const {
    constexpr double kBelow = 0.022750131948179195;  // of a normal distribution, below -2
    double u = unit(key, i);
    if (truncated) u = kBelow + (1 - 2 * kBelow) * u;
    target.put(i, normcdfinv(u > 0 ? u : 0x1p-65));
  }
};

std::uint64_t new_key() {
  static thread_local std::mt19937_64 keys{(std::uint64_t{std::random_device()()} << 32) |
                                           std::random_device()()};
  return keys();
}

State state_of(double seed) { return mersenne::seeded(std::bit_cast<std::uint64_t>(seed)); }

Target target_of(Call& call, double low, double span) {
  const ebb_cuda_tensor& out = call.output(0);
  return {dtype_of(out), out.data, elements(out), low, span};
}

void random_uniform(Call& call) {
  const double low = call.number(ops::attribute_at("RandomUniform", "low")),
               high = call.number(ops::attribute_at("RandomUniform", "high")),
               seed = call.number(ops::attribute_at("RandomUniform", "seed"));
  const Target target = target_of(call, low, high - low);
  if (target.count == 0) return;
  if (seed == 0) {
    return for_each(call.stream(), target.count, "RandomUniform", Uniform{target, new_key()});
  }
  draw_uniform<<<1, kDrawers, 0, call.stream()>>>(state_of(seed), target);
  launched("RandomUniform");
}
EBB_CUDA_KERNEL(RandomUniform, random_uniform);

void random_normal(Call& call) {
  const bool truncated = call.boolean(ops::attribute_at("RandomNormal", "truncated"));
  const double seed = call.number(ops::attribute_at("RandomNormal", "seed"));
  const Target target =
      target_of(call, call.number(ops::attribute_at("RandomNormal", "mean")),
                call.number(ops::attribute_at("RandomNormal", "standardDeviation")));
  if (target.count == 0) return;
  if (seed == 0) {
    return for_each(call.stream(), target.count, "RandomNormal",
                    Normal{target, new_key(), truncated});
  }
  draw_normal<<<1, kDrawers, 0, call.stream()>>>(state_of(seed), target, truncated);
  launched("RandomNormal");
}
EBB_CUDA_KERNEL(RandomNormal, random_normal);

// ---- Multinomial

// The sums of the probabilities up to each class, a thread for each row.
struct Cumulate {
  const float* logits;
  double* sums;
  std::int64_t classes;
  bool normalized;
  __device__ void operator()(std::int64_t row) const {
    const float* from = logits + row * classes;
    double* to = sums + row * classes;
    double most = 0;
    if (!normalized) {
      most = from[0];
      for (std::int64_t i = 1; i < classes; ++i) most = most < from[i] ? from[i] : most;
    }
    double total = 0;
    for (std::int64_t i = 0; i < classes; ++i) {
      total += normalized ? from[i] : exp(from[i] - most);
      to[i] = total;
    }
  }
};

struct Sample {
  const double* sums;
  const double* draws;
  std::int32_t* out;
  std::int64_t classes, samples;
  __device__ void operator()(std::int64_t i) const {
    const double* row = sums + i / samples * classes;
    const double sought = product(draws[i], row[classes - 1]);
    std::int64_t low = 0, high = classes - 1;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (sought < row[middle]) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    out[i] = static_cast<std::int32_t>(low);
  }
};

void multinomial(Call& call) {
  const std::int64_t batch = call.input(0).dims[0], classes = call.input(0).dims[1];
  const std::int64_t samples = call.integer(ops::attribute_at("Multinomial", "numSamples")),
                     count = batch * samples;
  if (count == 0) return;
  auto* sums = call.workspace<double>(
      checked_product({static_cast<std::size_t>(batch), static_cast<std::size_t>(classes)}));
  auto* draws = call.workspace<double>(static_cast<std::size_t>(count));
  const Target target{DType::kFloat64, draws, count, 0, 1};
  const double seed = call.number(ops::attribute_at("Multinomial", "seed"));
  if (seed == 0) {
    for_each(call.stream(), count, "Multinomial", Uniform{target, new_key()});
  } else {
    draw_uniform<<<1, kDrawers, 0, call.stream()>>>(state_of(seed), target);
    launched("Multinomial");
  }
  for_each(call.stream(), batch, "Multinomial",
           Cumulate{call.in<float>(0), sums, classes,
                    call.boolean(ops::attribute_at("Multinomial", "normalized"))});
  for_each(call.stream(), count, "Multinomial",
           Sample{sums, draws, call.out<std::int32_t>(0), classes, samples});
}
EBB_CUDA_KERNEL(Multinomial, multinomial);

}  // namespace
}  // namespace ebb::cuda
