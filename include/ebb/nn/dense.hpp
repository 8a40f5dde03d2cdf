// Each result is a weighted sum of all inputs, and a bias.
//
//   nn::Dense hidden(784, 128, {.activation = ops::Activation::kRelu});
//   Tensor h = hidden(x);   // [32,784] -> [32,128], [8,20,784] -> [8,20,128]
#pragma once

#include <functional>

#include "ebb/nn/initial.hpp"
#include "ebb/nn/layer.hpp"
#include "ebb/ops/words.hpp"

namespace ebb::nn {

// From extents to values, as those of ebb/nn/initial.hpp.
using Initializer = std::function<Tensor(const Dims&)>;

struct DenseOptions {
  ops::Activation activation = ops::Activation::kLinear;
  bool bias = true;
  Initializer initial = glorot_uniform;
};

class Dense final : public Layer {
 public:
  Dense(std::int64_t in, std::int64_t out, const DenseOptions& options = {});
  Tensor operator()(const Tensor& x) override;
  void parts(Parts& parts) override;

  Variable kernel;  // [in, out]
  Variable bias;    // [out]

 private:
  const std::int64_t in_, out_;
  const ops::Activation activation_;
  const bool has_bias_;
};

}  // namespace ebb::nn
