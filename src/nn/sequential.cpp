#include "ebb/nn/sequential.hpp"

#include <algorithm>

namespace ebb::nn {

Function::Function(std::function<Tensor(const Tensor&)> function) : function_(std::move(function)) {
  if (!function_) {
    raise(ErrorKind::kInvalidArgument, "[nn::Function] no function was given, one is needed");
  }
}

void Sequential::add_layer(std::string name, std::unique_ptr<Layer> layer) {
  if (std::ranges::any_of(layers_, [&](const auto& each) { return each.first == name; })) {
    raise(ErrorKind::kInvalidArgument, "[nn::Sequential] there is a layer \"{}\" already", name);
  }
  if (layer == nullptr) {
    raise(ErrorKind::kInvalidArgument, "[nn::Sequential] no layer was given as \"{}\"", name);
  }
  layer->train(training());
  layers_.emplace_back(std::move(name), std::move(layer));
  count_part();
}

Tensor Sequential::operator()(const Tensor& x) {
  tell_of_parts();
  Tensor y = x;
  for (const auto& each : layers_) y = (*each.second)(y);
  return y;
}

void Sequential::parts(Parts& parts) {
  for (const auto& [name, layer] : layers_) parts.layer(name, *layer);
}

}  // namespace ebb::nn
