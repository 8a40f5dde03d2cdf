// What a device must provide to compute, stated once.
//
// A backend is a KernelTable: by operation, a function that fills the outputs of a call. It is
// given checked arguments only, so it has no error of its own beyond out of memory and what data
// alone can tell (an index out of range).
//
// Pre, for every kernel:
//   - call.input(i) are valid, dense and in row-major order, of dtypes that the meaning allows;
//   - call.output(i) have been made with their final dtype and shape, their content unspecified,
//   and
//     overlap no input. Where the shape depends on data (Where, Unique, NonMaxSuppression and
//     such), the kernel makes its outputs, in order;
//   - what the meaning worked out is in call.params<T>(), T being the family's type in src/ops.
// Post: every element of every output is written, and the device has done so when the next
// operation on the same stream begins.
//
// Rules:
//   - call.make and call.workspace come before any parallel part: only the thread that entered Ebb
//     allocates;
//   - small work stays on the calling thread;
//   - a backend installs its table with ops::install_kernels when its library is loaded.
#pragma once

#include "ops/kernels.hpp"

namespace ebb::backends {

using ops::Kernel;
using ops::KernelTable;

}  // namespace ebb::backends
