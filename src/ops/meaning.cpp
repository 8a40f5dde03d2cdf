#include "ops/meaning.hpp"

#include "ops/families.hpp"

namespace ebb::ops {

const MeaningTable& meanings() noexcept {
  static const MeaningTable table = [] {
    MeaningTable filled;
    add_elementwise(filled);
    add_blocks(filled);
    add_creation(filled);
    add_indexing(filled);
    add_movement(filled);
    add_reductions(filled);
    add_sorting(filled);
    add_views(filled);
    add_products(filled);
    add_convolutions(filled);
    add_pooling(filled);
    add_dilation(filled);
    add_normalisation(filled);
    add_optimizers(filled);
    add_signal(filled);
    add_image(filled);
    add_suppression(filled);
    add_sparse(filled);
    add_ragged(filled);
    return filled;
  }();
  return table;
}

}  // namespace ebb::ops
