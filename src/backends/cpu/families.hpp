// The families of kernels, a source file each. cpu_backend.cpp calls all of these once.
#pragma once

#include "backends/backend.hpp"

namespace ebb::cpu {

using backends::KernelTable;

void add_creation(KernelTable& kernels);
void add_indexing(KernelTable& kernels);
void add_movement(KernelTable& kernels);
void add_reductions(KernelTable& kernels);
void add_scans(KernelTable& kernels);
void add_sorting(KernelTable& kernels);
void add_resizing(KernelTable& kernels);
void add_warping(KernelTable& kernels);
void add_boxes(KernelTable& kernels);
void add_fourier(KernelTable& kernels);
void add_sparse(KernelTable& kernels);
void add_ragged(KernelTable& kernels);
void add_elementwise(KernelTable& kernels);
void add_products(KernelTable& table);
void add_convolutions(KernelTable& table);
void add_pooling(KernelTable& table);
void add_dilation(KernelTable& table);
void add_normalisation(KernelTable& table);
void add_softmax(KernelTable& table);

}  // namespace ebb::cpu
