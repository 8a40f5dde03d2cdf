// The families of kernels, a source file each. cpu_backend.cpp calls all of these once.
#pragma once

#include "backends/backend.hpp"

namespace ebb::cpu {

using backends::KernelTable;

void add_elementwise(KernelTable& kernels);
void add_signal(KernelTable& kernels);
void add_sorting(KernelTable& kernels);
void add_unique(KernelTable& kernels);

}  // namespace ebb::cpu
