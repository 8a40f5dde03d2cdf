// Chains of elementwise operations (ops/chain.hpp): a piece of the elements that fits the first-level
// cache goes through all of them, row by row, before the next piece.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/elementwise_rows.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/parallel.hpp"
#include "ops/axes.hpp"
#include "ops/chain.hpp"

namespace ebb::cpu {
namespace {

using ops::ChainStep;
using ops::OpCall;

constexpr std::int64_t kPiece = 1024;  // elements
constexpr std::int64_t kGrain = 32 << 10;

// Where the elements of an input, or of what a step has made, are found for a piece.
struct Source {
  const float* data = nullptr;
  std::int64_t period = 0;  // of an input that repeats: how many elements it has
  std::int64_t shared = 0;  // of an input with a number for each row: how long the rows are
  bool moves = true;        // along the elements; false: as it is, for each piece anew

  const float* at(std::int64_t begin) const noexcept {
    if (!moves) return data;
    if (shared != 0) return data + begin / shared;
    return data + (period == 0 ? begin : begin % period);
  }
  std::int64_t step() const noexcept { return period == 1 || shared != 0 ? 0 : 1; }
};

class Chain {
 public:
  explicit Chain(OpCall& call) : count_(ops::elements(call.output(0).shape)) {
    for (std::size_t i = 0; i < call.inputs(); ++i) add_input(call.input(i), call.output(0).shape);
    const std::span<const double> code = call.numbers(0);
    steps_ = code.size() / ops::kChainWords;
    std::size_t results = 0;
    for (std::size_t i = 0; i < steps_; ++i) {
      step_[i] = ops::chain_step(code, i);
      out_[i] = step_[i].is_result ? call.out<float>(results++) : nullptr;
      if (step_[i].b < 0) {
        unary_[i] = unary_rows().find(step_[i].op, DType::kFloat32);
      } else {
        binary_[i] = binary_rows().find(step_[i].op, DType::kFloat32);
      }
    }
  }

  void run() const {
    parallel_for(count_, kGrain,
                 [this](std::int64_t begin, std::int64_t end) { part(begin, end); });
  }

 private:
  void add_input(const Operand& input, const Shape& result) {
    const std::int64_t own = ops::elements(input.shape);
    Source& made = sources_[inputs_++];
    made.data = reinterpret_cast<const float*>(input.data);
    if (own == count_) return;
    const bool repeats = ops::repeats_along(input.shape, result);
    (repeats ? made.period : made.shared) = repeats ? own : count_ / own;
    const std::int64_t row = repeats ? own : made.shared;
    if (row != 1) row_ = row_ == 0 ? row : std::min(row_, row);
  }

  // A piece does not reach beyond the end of a row that is repeated, or that shares a number.
  std::int64_t end_of_piece(std::int64_t at, std::int64_t end) const noexcept {
    const std::int64_t here = std::min(end, at + kPiece);
    return row_ == 0 ? here : std::min(here, at + row_ - at % row_);
  }

  void part(std::int64_t begin, std::int64_t end) const {
    alignas(64) float between[ops::kMostChainSteps][kPiece];
    std::array<Source, ops::kMostChainInputs + ops::kMostChainSteps> sources = sources_;
    for (std::size_t i = 0; i < steps_; ++i) {
      sources[inputs_ + i] =
          out_[i] != nullptr ? Source{.data = out_[i]} : Source{.data = between[i], .moves = false};
    }
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t next = end_of_piece(at, end);
      for (std::size_t i = 0; i < steps_; ++i) {
        float* to = out_[i] != nullptr ? out_[i] + at : between[i];
        const Source& a = sources[static_cast<std::size_t>(step_[i].a)];
        if (step_[i].b < 0) {
          unary_[i](a.at(at), to, next - at, step_[i].attributes);
        } else {
          const Source& b = sources[static_cast<std::size_t>(step_[i].b)];
          binary_[i](a.at(at), a.step(), b.at(at), b.step(), to, next - at);
        }
      }
      at = next;
    }
  }

  std::int64_t count_, row_ = 0;  // row_: what no piece reaches beyond; 0: nothing
  std::size_t inputs_ = 0, steps_ = 0;
  std::array<Source, ops::kMostChainInputs + ops::kMostChainSteps> sources_{};
  std::array<ChainStep, ops::kMostChainSteps> step_{};
  std::array<float*, ops::kMostChainSteps> out_{};
  std::array<UnaryRow, ops::kMostChainSteps> unary_{};
  std::array<BinaryRow, ops::kMostChainSteps> binary_{};
};

void chain(OpCall& call) {
  if (call.outputs() > 0) Chain(call).run();
}

// As batch normalisation makes them (normalisation.cpp), to the bit.
void norm_factors(OpCall& call) {
  const float* variance = call.in<float>(0);
  const float* scale = call.has(1) ? call.in<float>(1) : nullptr;
  const auto epsilon = static_cast<float>(call.number(0));
  float* factors = call.out<float>(0);
  const std::int64_t count = ops::elements(call.output(0).shape);
  for (std::int64_t i = 0; i < count; ++i) {
    factors[i] = (scale == nullptr ? 1.0F : scale[i]) / std::sqrt(variance[i] + epsilon);
  }
}

}  // namespace

void add_elementwise_chain(KernelTable& kernels) {
  kernels.set(ops::kChain, chain);
  kernels.set(ops::kNormFactors, norm_factors);
}

}  // namespace ebb::cpu
