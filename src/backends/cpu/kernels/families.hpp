// The families of kernels, a source file each. cpu_backend.cpp calls all of these once.
#pragma once

#include "backends/backend.hpp"

namespace ebb::cpu {

using backends::KernelTable;

void add_creation(KernelTable& kernels);
void add_views(KernelTable& kernels);
void add_indexing(KernelTable& kernels);
void add_movement(KernelTable& kernels);
void add_reductions(KernelTable& kernels);
void add_reductions_scans(KernelTable& kernels);
void add_sorting(KernelTable& kernels);
void add_elementwise(KernelTable& kernels);
void add_elementwise_chain(KernelTable& kernels);
void add_products(KernelTable& table);
void add_products_packed(KernelTable& table);
void add_convolutions(KernelTable& table);
void add_convolutions_separable(KernelTable& table);
void add_pooling(KernelTable& table);
void add_dilation(KernelTable& table);
void add_normalisation(KernelTable& table);
void add_optimizers(KernelTable& table);
void add_normalisation_softmax(KernelTable& table);
void add_signal(KernelTable& kernels);
void add_sorting_unique(KernelTable& kernels);
void add_images_resize(KernelTable& kernels);
void add_images_turn(KernelTable& kernels);
void add_suppression(KernelTable& kernels);
void add_sparse(KernelTable& kernels);
void add_ragged(KernelTable& kernels);
void add_ragged_to_dense(KernelTable& kernels);

}  // namespace ebb::cpu
