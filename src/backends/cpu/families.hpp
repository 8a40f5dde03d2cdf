// The families of kernels, a source file each. cpu_backend.cpp calls all of these once.
#pragma once

#include "backends/backend.hpp"

namespace ebb::cpu {

using backends::KernelTable;

}  // namespace ebb::cpu
