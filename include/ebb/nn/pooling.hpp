// Windows of an image [batch, height, width, channels] made one number each, and images made rows.
#pragma once

#include "ebb/nn/layer.hpp"
#include "ebb/nn/padding.hpp"

namespace ebb::nn {

// Size and strides are two numbers each, along height and width.
struct PoolOptions {
  Dims size = {2, 2};
  Dims strides = {2, 2};
  Padding padding = Padding::kValid;
};

class MaxPool2D final : public Layer {
 public:
  explicit MaxPool2D(const PoolOptions& options = {});
  Tensor operator()(const Tensor& x) override;

 private:
  const PoolOptions options_;
};

// Of what is in the window; padding does not count.
class AveragePool2D final : public Layer {
 public:
  explicit AveragePool2D(const PoolOptions& options = {});
  Tensor operator()(const Tensor& x) override;

 private:
  const PoolOptions options_;
};

// [batch, height, width, channels] -> [batch, channels]
class GlobalAveragePool2D final : public Layer {
 public:
  Tensor operator()(const Tensor& x) override;
};

// [batch, ...] -> [batch, all the rest]
class Flatten final : public Layer {
 public:
  Tensor operator()(const Tensor& x) override;
};

}  // namespace ebb::nn
