#include <array>

#include "grad/row.hpp"

namespace ebb::gradients {
namespace {

using Column = std::array<const GradientRow*, ops::kOpIdLimit>;

void put(Column& column, std::span<const GradientRow> rows) noexcept {
  for (const GradientRow& row : rows) column[ops::find_op(row.op)->id] = &row;
}

Column usual() noexcept {
  Column column{};
  for (const auto& rows : {of_elementwise_unary(), of_elementwise_binary(), of_movement(),
                           of_indexing(), of_reductions(), of_products(), of_convolutions(),
                           of_pooling(), of_normalisation(), of_images(), of_others()}) {
    put(column, rows);
  }
  return column;
}

Column as_tensorflow_js() noexcept {
  Column column = usual();
  put(column, of_tensorflow_js());
  return column;
}

}  // namespace

const GradientRow* gradient_of(ops::OpId op, bool tensorflow_js) noexcept {
  static const Column columns[] = {usual(), as_tensorflow_js()};
  const Column& column = columns[tensorflow_js ? 1 : 0];
  return op < column.size() ? column[op] : nullptr;
}

}  // namespace ebb::gradients
