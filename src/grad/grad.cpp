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

}  // namespace ebb::detail
