// The values that weights begin with.
//
//   nn::set_seed(7);   // the same ones in each run, in the order in which layers are made
//   nn::Dense hidden(784, 128);
//
// Their spread follows from how many numbers go into a result and come out of one: the first and the
// second to last axis of a kernel count channels, the axes before them positions of a window.
#pragma once

#include <cstdint>
#include <vector>

#include "ebb/tensor/tensor.hpp"

namespace ebb::nn {

using Dims = std::vector<std::int64_t>;

Tensor zeros(const Dims& dims);
Tensor ones(const Dims& dims);
// Between -a and a, a = sqrt(6 / (in + out)): Keras's and TensorFlow.js's usual one.
Tensor glorot_uniform(const Dims& dims);
// sqrt(2 / in) is the standard deviation: for relu.
Tensor he_normal(const Dims& dims);
Tensor normal(const Dims& dims, double standard_deviation);
Tensor uniform(const Dims& dims, double most);

// Of this thread. 0, as it is at first: other values each time. Also what dropout draws, but for functions
// that are given to record(): a TrainingStep is seeded, recorded or not.
void set_seed(std::uint32_t seed) noexcept;

}  // namespace ebb::nn
