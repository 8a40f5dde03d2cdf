// What becomes of an element of a product or a convolution before it is written: a bias or an addend, a batch
// normalisation by given numbers, an activation. Each rounded for itself, as where it is an operation of its own.
#pragma once

#include "backends/cuda/plugin/kernels/activation.cuh"
#include "backends/cuda/plugin/kernels/finish.hpp"

namespace ebb::cuda {

// The numbers of a channel as they lie in memory: asked for before the sums are there, which then need not wait for them.
struct AskedNumbers {
  float bias = 0, mean = 0, variance = 0, scale = 1, offset = 0;
};

__device__ __forceinline__ AskedNumbers ask_for(const Finish& finish, std::int64_t channel) {
  AskedNumbers asked;
  if (finish.bias != nullptr) asked.bias = __ldg(finish.bias + channel);
  const ChannelNorm& norm = finish.norm;
  if (norm.mean != nullptr) {
    asked.mean = __ldg(norm.mean + channel);
    asked.variance = __ldg(norm.variance + channel);
    if (norm.scale != nullptr) asked.scale = __ldg(norm.scale + channel);
    if (norm.offset != nullptr) asked.offset = __ldg(norm.offset + channel);
  }
  return asked;
}

struct alignas(16) ChannelNumbers {
  float bias, mean, factor, offset;
};

__device__ __forceinline__ ChannelNumbers numbers_of(const Finish& finish,
                                                     const AskedNumbers& asked) {
  const float factor = finish.norm.mean == nullptr
                           ? 1.0F
                           : asked.scale / sqrtf(sum(asked.variance, finish.norm.epsilon));
  return {asked.bias, asked.mean, factor, asked.offset};
}

// `place`: of the element in the result, where an addend has its own.
__device__ __forceinline__ float finished(const Finish& finish, const ChannelNumbers& numbers,
                                          float x, std::int64_t place) {
  if (finish.bias != nullptr) x = sum(x, numbers.bias);
  if (finish.addend != nullptr) x = sum(x, __ldg(finish.addend + place));
  if (finish.norm.mean != nullptr) {
    x = product(x - numbers.mean, numbers.factor);
    if (finish.norm.offset != nullptr) x = sum(x, numbers.offset);
  }
  return activated(finish.activation, x, finish.alpha, 0.0F);
}

}  // namespace ebb::cuda
