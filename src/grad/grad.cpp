#include "ebb/grad/grad.hpp"

#include "ebb/ops/functions/creation.hpp"

namespace ebb::detail {

std::vector<Tensor> gradients_of(Tape& tape, const Tensor& value,
                                 std::span<const Tensor* const> wanted) {
  const std::array<const Tensor*, 1> output{&value};
  std::vector<Tensor> gradients = tape.backward(output, {}, wanted);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) gradients[i] = ops::zeros_like(*wanted[i]);
  }
  return gradients;
}

WatchingTape::WatchingTape(std::span<Variable* const> variables)
    : tape_(TapeOptions{.copies = false}) {
  for (const Variable* each : variables) {
    tape_.watch(each->value());
    watched_.push_back(each->value());  // the tape knows the copy
  }
}

std::vector<Tensor> WatchingTape::ways_from(const Tensor& value) {
  const std::array<const Tensor*, 1> output{&value};
  std::vector<const Tensor*> wanted;
  for (const Tensor& each : watched_) wanted.push_back(&each);
  return tape_.backward(output, {}, wanted);
}

std::vector<Tensor> WatchingTape::with_zeros(std::vector<Tensor> ways) const {
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!ways[i]) ways[i] = ops::zeros_like(watched_[i]);
  }
  return ways;
}

}  // namespace ebb::detail
