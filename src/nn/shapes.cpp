#include "nn/shapes.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "ebb/ops/functions.hpp"

namespace ebb::nn {
namespace {

Dims named_dims(const Tensor& x, std::string_view layer, std::size_t rank, std::string_view axes,
                std::int64_t last) {
  Dims dims = dims_of(x);
  if (dims.size() != rank || (last != kAny && dims.back() != last)) {
    refuse_input(layer, x,
                 fmt::format("[{}, {}]", axes, last == kAny ? "channels" : std::to_string(last)));
  }
  return dims;
}

}  // namespace

Dims dims_of(const Tensor& x) {
  const Shape shape = x.shape();
  return {shape.dims().begin(), shape.dims().end()};
}

void refuse_input(std::string_view layer, const Tensor& x, std::string_view allowed) {
  raise(ErrorKind::kInvalidArgument, "[nn::{}] an input of shape {} was given; allowed: {}", layer,
        x.shape().to_string(), allowed);
}

void refuse_dtype(std::string_view layer, const Tensor& x, std::string_view allowed) {
  raise(ErrorKind::kInvalidArgument, "[nn::{}] an input of {} was given, {} is allowed", layer,
        name_of(x.dtype()), allowed);
}

Dims image_dims(const Tensor& x, std::string_view layer, std::int64_t channels) {
  return named_dims(x, layer, 4, "batch, height, width", channels);
}

Dims sequence_dims(const Tensor& x, std::string_view layer, std::int64_t width) {
  return named_dims(x, layer, 3, "batch, time", width);
}

Dims row_dims(const Tensor& x, std::string_view layer, std::int64_t width) {
  Dims dims = dims_of(x);
  if (dims.empty() || dims.back() != width) {
    refuse_input(layer, x, fmt::format("[..., {}]", width));
  }
  return dims;
}

Tensor as_int32(const Tensor& numbers) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (numbers.dtype() == DType::kInt32) return numbers;
  const bool wide = numbers.dtype() == DType::kInt64;
  return ops::cast(wide ? ops::clip_by_value(numbers, Limits::min(), Limits::max()) : numbers,
                   DType::kInt32);
}

void check_window(const Dims& numbers, std::string_view what, std::string_view layer) {
  if (numbers.size() != 2) {
    raise(ErrorKind::kInvalidArgument, "[nn::{}] {} {} were given, 2 are needed", layer,
          numbers.size(), what);
  }
  if (std::ranges::min(numbers) < 1) {
    raise(ErrorKind::kInvalidArgument, "[nn::{}] {} {} and {} were given, 1 or more is allowed",
          layer, what, numbers[0], numbers[1]);
  }
}

Tensor initial_value(const Initializer& initial, const Dims& dims, std::string_view layer) {
  if (!initial) {
    raise(ErrorKind::kInvalidArgument, "[nn::{}] no initializer was given, one is needed", layer);
  }
  Tensor value = initial(dims);
  if (dims_of(value) != dims) {
    raise(ErrorKind::kInvalidArgument, "[nn::{}] the initializer gave shape {}, {} is needed",
          layer, value.shape().to_string(), Shape(dims).to_string());
  }
  return value;
}

}  // namespace ebb::nn
