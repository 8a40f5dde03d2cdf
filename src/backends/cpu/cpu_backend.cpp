// Installs the CPU's kernels when the library is loaded.
#include "backends/cpu/kernels/copy.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/shift.hpp"

namespace ebb::cpu {
namespace {

const KernelTable& table() {
  static const KernelTable filled = [] {
    KernelTable kernels;
    add_creation(kernels);
    add_views(kernels);
    add_indexing(kernels);
    add_movement(kernels);
    add_reductions(kernels);
    add_reductions_scans(kernels);
    add_sorting(kernels);
    add_elementwise(kernels);
    add_elementwise_chain(kernels);
    add_products(kernels);
    add_products_packed(kernels);
    add_convolutions(kernels);
    add_convolutions_separable(kernels);
    add_pooling(kernels);
    add_dilation(kernels);
    add_normalisation(kernels);
    add_optimizers(kernels);
    add_normalisation_softmax(kernels);
    add_signal(kernels);
    add_sorting_unique(kernels);
    add_images_resize(kernels);
    add_images_turn(kernels);
    add_suppression(kernels);
    add_sparse(kernels);
    add_ragged(kernels);
    add_ragged_to_dense(kernels);
    kernels.set_program_hooks(shift_hooks());
    return kernels;
  }();
  return filled;
}

}  // namespace
}  // namespace ebb::cpu

// The name under which a static build pulls this file in.
extern "C" const bool ebb_cpu_kernels;
const bool ebb_cpu_kernels = [] {
  ebb::ops::install_kernels(ebb::cpu::table());
  ebb::set_pack(ebb::cpu::pack);
  return true;
}();
