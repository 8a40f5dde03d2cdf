// What the fused operations share: a bias and an activation after a product or a convolution.
#pragma once

#include <functional>

#include "grad/backprop.hpp"

namespace ebb::gradients {

struct Epilogue {
  ops::Activation activation = ops::Activation::kLinear;
  double alpha = 0;             // of leakyrelu
  bool channels_first = false;  // a list is one number for each channel
};

// Gives the gradients by the bias (input 2) and prelu's slopes (input 3), and returns what reaches
// the product. Most activations tell by their result where they were; for the others `product`
// computes it anew.
Tensor through_epilogue(Backprop& call, const Epilogue& epilogue,
                        const std::function<Tensor()>& product);

}  // namespace ebb::gradients
