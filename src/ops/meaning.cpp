#include "ops/meaning.hpp"

#include "ops/chain.hpp"
#include "ops/families.hpp"
#include "ops/normed.hpp"
#include "ops/packed.hpp"

namespace ebb::ops {

const MeaningTable& meanings() noexcept {
  static const MeaningTable table = [] {
    MeaningTable filled;
    add_elementwise(filled);
    add_creation(filled);
    add_views(filled);
    add_movement(filled);
    add_movement_blocks(filled);
    add_indexing(filled);
    add_reductions(filled);
    add_sorting(filled);
    add_images(filled);
    add_suppression(filled);
    add_signal(filled);
    add_sparse(filled);
    add_ragged(filled);
    add_products(filled);
    add_convolutions(filled);
    add_dilation(filled);
    add_pooling(filled);
    add_normalisation(filled);
    add_optimizers(filled);
    filled.set(kChain, check_chain, Strided::kAll);
    filled.set(kNormFactors, check_norm_factors);
    filled.set(kPackedMatrix, check_packed_matrix);
    filled.set(kPackedProduct, check_packed_product);
    filled.set(kPackedSeparable, check_packed_separable);
    add_normed_convolutions(filled);
    add_normed(filled);
    return filled;
  }();
  return table;
}

}  // namespace ebb::ops
