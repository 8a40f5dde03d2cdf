// While it trains, sets this share of the numbers to 0, others each time, and scales the rest up so
// that sums stay about what they were. It multiplies: an infinite number that is dropped is NaN.
#pragma once

#include "ebb/nn/layer.hpp"

namespace ebb::nn {

class Dropout final : public Layer {
 public:
  // Throws Error(kInvalidArgument) where the rate is not in [0, 1).
  explicit Dropout(double rate);
  Tensor operator()(const Tensor& x) override;

 private:
  const double rate_;
};

}  // namespace ebb::nn
