// The element types, by their plain names in the CPU's kernels.
#pragma once

#include "backends/element.hpp"

namespace ebb::cpu {

using namespace backends;

}  // namespace ebb::cpu
