// A row of numbers for each of `count` things, looked up by whole numbers: [8,20] -> [8,20,width]. Numbers of another
// dtype are refused, and ones that name no row are an error.
#pragma once

#include "ebb/nn/initial.hpp"
#include "ebb/nn/layer.hpp"

namespace ebb::nn {

class Embedding final : public Layer {
 public:
  Embedding(std::int64_t count, std::int64_t width);
  Tensor operator()(const Tensor& ids) override;
  void parts(Parts& parts) override;

  Variable embeddings;  // [count, width]
};

}  // namespace ebb::nn
