// Layers one after the other.
//
//   nn::Sequential net;
//   net.add<nn::Dense>("hidden", 784, 128, nn::DenseOptions{.activation = ops::Activation::kRelu});
//   net.add<nn::Function>("tanh", ops::tanh);
//   net.add<nn::Dense>("out", 128, 10);
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "ebb/nn/layer.hpp"

namespace ebb::nn {

// A function without weights, as a layer.
class Function final : public Layer {
 public:
  // Throws Error(kInvalidArgument) where there is none.
  explicit Function(std::function<Tensor(const Tensor&)> function);
  Tensor operator()(const Tensor& x) override { return function_(x); }

 private:
  const std::function<Tensor(const Tensor&)> function_;
};

class Sequential final : public Layer {
 public:
  template <typename Made, typename... Arguments>
  Made& add(std::string name, Arguments&&... arguments) {
    auto made = std::make_unique<Made>(std::forward<Arguments>(arguments)...);
    Made& layer = *made;
    add_layer(std::move(name), std::move(made));
    return layer;
  }
  // Throws Error(kInvalidArgument) where the name is taken, as files know weights by it, or there is no
  // layer.
  void add_layer(std::string name, std::unique_ptr<Layer> layer);

  Tensor operator()(const Tensor& x) override;
  void parts(Parts& parts) override;

 private:
  std::vector<std::pair<std::string, std::unique_ptr<Layer>>> layers_;
};

}  // namespace ebb::nn
