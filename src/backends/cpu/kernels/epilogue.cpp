#include "backends/cpu/kernels/epilogue.hpp"

#include "backends/cpu/parallel.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::Activation;
using ops::Broadcast;
using ops::Epilogue;

// Where the row of an operand begins that goes with the result's row `row`.
std::int64_t row_offset(const Shape& shape, const Broadcast& operand, std::int64_t row) {
  std::int64_t offset = 0;
  for (std::size_t axis = shape.rank() - 1; axis-- > 0;) {
    offset += row % shape.dims()[axis] * operand.strides[axis];
    row /= shape.dims()[axis];
  }
  return offset;
}

// Calls combine(value, operand's value) for every element of the result.
template <typename Combine>
void for_each_with(const Shape& shape, float* result, const Broadcast& operand, const float* values,
                   Combine combine) {
  const std::size_t last = shape.rank() - 1;
  const std::int64_t columns = shape.dims()[last];
  const std::int64_t step = operand.strides[last];
  const std::int64_t rows = ops::extent(shape, 0, last);
  parallel_for(rows, 32 * 1024 / (columns + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float* from = values + row_offset(shape, operand, row);
      float* to = result + row * columns;
      for (std::int64_t i = 0; i < columns; ++i) to[i] = combine(to[i], from[i * step]);
    }
  });
}

}  // namespace

std::optional<Limits> limits_of(Activation activation) noexcept {
  switch (activation) {
    case Activation::kLinear:
      return Limits{};
    case Activation::kRelu:
      return Limits{.least = 0};
    case Activation::kRelu6:
      return Limits{.least = 0, .most = 6};
    default:
      return std::nullopt;
  }
}

bool is_per_column(const Broadcast& operand, const Shape& result) noexcept {
  const std::size_t last = result.rank() - 1;
  for (std::size_t axis = 0; axis < last; ++axis) {
    if (operand.strides[axis] != 0) return false;
  }
  return operand.strides[last] == 1;
}

void apply_epilogue(ops::OpCall& call, const Epilogue& epilogue, bool bias_done) {
  const Shape& shape = call.output(0).shape;
  auto* result = call.out<float>(0);
  if (ops::elements(shape) == 0) return;
  if (epilogue.bias.given && !bias_done) {
    for_each_with(shape, result, epilogue.bias, call.in<float>(2),
                  [](float value, float bias) { return value + bias; });
  }
  if (epilogue.activation == Activation::kPrelu) {
    for_each_with(shape, result, epilogue.slope, call.in<float>(3),
                  [](float value, float slope) { return value < 0 ? value * slope : value; });
  } else {
    activate(epilogue.activation, epilogue.alpha, result, ops::elements(shape));
  }
}

}  // namespace ebb::cpu
