#include <array>

#include "grad/row.hpp"

namespace ebb::gradients {
namespace {

using Column = std::array<const GradientRow*, ops::kOpIdLimit>;

Column made() noexcept {
  Column column{};
  for (const auto& rows : {of_elementwise_unary(), of_elementwise_binary(), of_movement(),
                           of_indexing(), of_reductions(), of_products(), of_convolutions(),
                           of_pooling(), of_normalisation(), of_images(), of_others()}) {
    for (const GradientRow& row : rows) column[ops::find_op(row.op)->id] = &row;
  }
  return column;
}

}  // namespace

const GradientRow* gradient_of(ops::OpId op) noexcept {
  static const Column column = made();
  return op < column.size() ? column[op] : nullptr;
}

}  // namespace ebb::gradients
