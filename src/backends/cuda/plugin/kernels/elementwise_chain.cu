// Chains of elementwise operations: from a call to a launch of what elementwise_chain.cuh has.
#include <array>
#include <vector>

#include "backends/cuda/plugin/kernels/elementwise_chain.cuh"
#include "backends/cuda/plugin/kernels/movement.hpp"

namespace ebb::cuda {
namespace {

using namespace chains;

constexpr std::int64_t kManyElements = 1 << 18;  // fewer: a thread each
constexpr std::size_t kMostShared = 44 << 10;    // bytes of registers of a block
constexpr int kFewSteps = 8;                     // their code is read as it is needed

// One number for each of the result's first extents.
bool is_column(const ebb_cuda_tensor& x, const ebb_cuda_tensor& result) {
  return x.rank == result.rank && x.rank > 0 && x.dims[x.rank - 1] == 1 &&
         result.dims[x.rank - 1] != 1;
}

// Where an input has what goes with each element of a result; false: it has to be made dense first.
bool place_source(const ebb_cuda_tensor& x, const ebb_cuda_tensor& result, std::int64_t count,
                  Source& source) {
  constexpr auto kAll = static_cast<std::uint32_t>(kMostElements);
  const std::int64_t own = elements(x);
  source = {.data = static_cast<const float*>(x.data),
            .inner = Divisor(kAll),
            .outer_step = 0,
            .inner_step = own != 1};
  if (own == 1 || (own == count && x.dense != 0)) return true;
  if (x.dense != 0) {
    const bool column = is_column(x, result);
    source.inner = Divisor(static_cast<std::uint32_t>(column ? count / own : own));
    source.outer_step = column ? 1 : 0;
    source.inner_step = column ? 0 : 1;
    return true;
  }
  Plan<1> plan;
  for (std::uint32_t i = x.rank; i-- > 0;) plan.add_outer(x.dims[i], {x.strides[i]});
  plan.reverse();
  if (own != count || plan.axes != 2 || plan.step[0][1] != 1 || plan.step[0][0] < 0 || !plan.fits())
    return false;
  source.inner = Divisor(static_cast<std::uint32_t>(plan.extent[1]));
  source.outer_step = static_cast<std::int32_t>(plan.step[0][0]);
  return true;
}

bool lies_in_packs(const Source& source) {
  const bool whole = source.inner.value == static_cast<std::uint32_t>(kMostElements);
  if (!whole && source.inner.value % kChainWidth != 0) return false;
  if (source.inner_step == 0) return true;
  return aligned<Floats<kChainWidth>>(source.data) && source.outer_step % kChainWidth == 0;
}

// Registers of the steps' results: one is free again after its last use.
class Registers {
 public:
  Registers(std::span<const double> code, std::size_t inputs)
      : last_(inputs + code.size() / ops::kChainWords) {
    for (std::size_t i = 0; i < code.size() / ops::kChainWords; ++i) {
      for (const int place : ops::chain_places(code, i)) {
        if (place >= 0) last_[static_cast<std::size_t>(place)] = i;
      }
    }
    for (std::size_t i = 0; i < inputs; ++i) at_[i] = static_cast<std::uint8_t>(i);
    used_ = inputs;
  }

  std::uint8_t of(int place) const { return place < 0 ? 0 : at_[static_cast<std::size_t>(place)]; }
  // For the result of a step. `places`: how many there are so far, this one not counted.
  std::uint8_t take(std::size_t step, std::size_t places) {
    for (std::size_t i = 0; i < places; ++i) {
      if (taken_[i] || last_[i] > step)
        continue;  // a step's own operands are read before it writes
      taken_[i] = true;
      return at_[places] = at_[i];
    }
    return at_[places] = static_cast<std::uint8_t>(used_++);
  }
  std::size_t used() const { return used_; }

 private:
  static constexpr std::size_t kMost = kMostDeviceChainInputs + kMostDeviceChainSteps;
  std::vector<std::size_t> last_;
  std::array<std::uint8_t, kMost> at_{};
  std::array<bool, kMost> taken_{};  // its register has been given to another
  std::size_t used_ = 0;
};

struct Chain {
  ChainWork work{};
  std::size_t registers = 0, own_results = 0;
  bool packs = true;
};

void take_steps(Call& call, Chain& chain) {
  const std::span<const double> code = call.numbers(0);
  Registers registers(code, call.inputs());
  std::size_t results = 0;
  for (std::size_t i = 0; i < code.size() / ops::kChainWords; ++i) {
    const double* words = code.data() + i * ops::kChainWords;
    const auto [a, b, c] = ops::chain_places(code, i);
    const int at = code_of(static_cast<ops::OpId>(words[0]), b >= 0);
    if (at < 0)
      throw Failure{EBB_CUDA_NO_KERNEL,
                    "a chain has an operation that chains of this plug-in have not"};
    ChainStep& step = chain.work.steps[i];
    step = {.code = static_cast<std::uint8_t>(at),
            .a = registers.of(a),
            .b = registers.of(b),
            .c = registers.of(c),
            .to = 0,
            .result = -1,
            .part = -1};
    chain.work.numbers[i] = {static_cast<float>(words[3]), static_cast<float>(words[4])};
    step.to = registers.take(i, call.inputs() + i);
    if (words[5] > 1) step.part = static_cast<std::int8_t>(words[5] - 2);
    if (words[5] != 1) continue;
    step.result = static_cast<std::int8_t>(results);
    chain.packs = chain.packs && aligned<Floats<kChainWidth>>(call.output(results).data);
    chain.work.results[results] = call.out<float>(results);
    ++results;
  }
  chain.work.step_count = static_cast<int>(code.size() / ops::kChainWords);
  chain.registers = registers.used();
  chain.own_results = results;
}

// The one that comes after those of the steps themselves.
void take_joined(Call& call, Chain& chain, std::int64_t columns) {
  const ebb_cuda_tensor& joined = call.output(chain.own_results);
  chain.work.joined = static_cast<float*>(joined.data);
  chain.work.columns = Divisor(static_cast<std::uint32_t>(columns));
  chain.work.joined_columns = static_cast<std::uint32_t>(joined.dims[joined.rank - 1]);
  chain.packs =
      chain.packs && columns % kChainWidth == 0 && aligned<Floats<kChainWidth>>(joined.data);
}

void take_inputs(Call& call, Chain& chain, const ebb_cuda_tensor& result, std::int64_t count) {
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    Source& source = chain.work.sources[i];
    if (!place_source(call.input(i), result, count, source)) {
      ebb_cuda_tensor packed = call.input(i);
      packed.data = const_cast<std::byte*>(dense(call, call.input(i)));
      packed.dense = 1;
      place_source(packed, result, count, source);
    }
    chain.packs = chain.packs && lies_in_packs(source);
  }
  chain.work.inputs = static_cast<int>(call.inputs());
}

template <int width>
void launch_chain(Call& call, Chain& chain, std::int64_t count) {
  chain.work.packs = static_cast<std::uint32_t>(count / width);
  const std::size_t shared = chain.registers * kChainThreads * sizeof(Floats<width>);
  const auto kernel =
      chain.work.step_count > kFewSteps ? run_chain<width, true> : run_chain<width, false>;
  kernel<<<blocks_for(count / width, kChainThreads), kChainThreads, shared, call.stream()>>>(
      chain.work);
  launched("a chain");
}

// The input that has the shape of the results: the largest, as the meaning found it.
const ebb_cuda_tensor& whole_input(const Call& call) {
  std::size_t largest = 0;
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    const std::int64_t count = elements(call.input(i)), best = elements(call.input(largest));
    if (count > best || (count == best && call.input(i).rank > call.input(largest).rank))
      largest = i;
  }
  return call.input(largest);
}

void chain_kernel(Call& call) {
  const ebb_cuda_tensor& result = whole_input(call);
  const std::int64_t count = elements(result);
  if (count == 0) return;
  if (count > kMostElements) throw Failure{EBB_CUDA_FAILED, "a chain of more than 2^31 elements"};
  Chain chain;
  take_steps(call, chain);
  take_inputs(call, chain, result, count);
  const auto is_part = [](const ChainStep& step) { return step.part >= 0; };
  if (std::any_of(chain.work.steps, chain.work.steps + chain.work.step_count, is_part)) {
    take_joined(call, chain, result.dims[result.rank - 1]);
  }
  const std::size_t shared = chain.registers * kChainThreads * sizeof(Floats<kChainWidth>);
  if (chain.packs && count >= kManyElements && count % kChainWidth == 0 && shared <= kMostShared) {
    launch_chain<kChainWidth>(call, chain, count);
  } else {
    launch_chain<1>(call, chain, count);
  }
}
const Registration chain_registered(ops::kChain, chain_kernel);

// ---- the factors of a batch normalisation

struct Factors {
  const float* variance;
  const float* scale;  // null: 1
  float* factors;
  double epsilon;
  __device__ void operator()(std::int64_t i) const {
    factors[i] = factor(variance[i], scale == nullptr ? 1.0F : scale[i], epsilon);
  }
};

void norm_factors(Call& call) {
  for_each(call.stream(), elements(call.output(0)), "NormFactors",
           Factors{call.in<float>(0), call.has(1) ? call.in<float>(1) : nullptr, call.out<float>(0),
                   call.number(0)});
}
const Registration factors_registered(ops::kNormFactors, norm_factors);

}  // namespace
}  // namespace ebb::cuda
