// What a device must provide to compute, stated once.
//
// A backend is a KernelTable: by operation, a function that fills the outputs of a call. It is
// given checked arguments only, so it has no error of its own beyond out of memory and what data
// alone can tell (an index out of range).
//
// Pre, for every kernel:
//   - call.input(i) are valid, of dtypes that the meaning allows, and dense in row-major order,
//     but for the inputs that the operation's line in the table of meanings names as `Strided`:
//     those may have dense == false, and then strides[] (in elements of their dtype, one an axis,
//     from `data` on, the first element). Strides may be 0 or negative. By family:
//       elementwise, one operand    Loops<1> in params where the operand is strided, nothing else
//       elementwise, two; Select    Loops<2>, Loops<3> always: steps along the joined axes of the
//                                   output. The last axis is the inner one; its steps are 0 or 1
//                                   for dense operands, anything for strided ones
//       moves (CopyPlan)            the plan's from_step and from_offset hold the strides already
//       Concat, Pack, SplitV,
//       Unpack, Complex, MirrorPad  by ops::strides_of(input)
//       reductions, ArgMax, ArgMin  as for dense ones: [outer, count, inner] is how the memory lies
//       BatchMatMul, _FusedMatMul   inputs 0 and 1 are dense but for matrices that lie transposed,
//                                   and the flags in Product say so
//       GatherV2                    input 0 by the steps in GatherParams
//     All others take dense operands only;
//   - call.output(i) have been made with their final dtype and shape, their content unspecified,
//   and
//     overlap no input. Where the shape depends on data (Where, Unique, NonMaxSuppression and
//     such), the kernel makes its outputs, in order;
//   - what the meaning worked out is in call.params<T>(), T being the family's type in src/ops;
//   - some output has an element, or the kernel is to make its outputs, or the operation's line in
//     the table of meanings has Data::kChecked. So each product of extents of an operand or an
//     output fits, unless that operand is empty: its extents may be any, and a kernel that goes over
//     them returns first.
// Post: every element of every output is written, and the device has done so when the next
// operation on the same stream begins.
//
// Rules:
//   - call.make and call.workspace come before any parallel part: only the thread that entered Ebb
//     allocates;
//   - small work stays on the calling thread;
//   - a backend installs its table with ops::install_kernels when its library is loaded, and the
//     copy that makes strided operands dense with ebb::set_pack; a device with a DeviceLink has its
//     pack().
#pragma once

#include "ops/kernels.hpp"

namespace ebb::backends {

using ops::Kernel;
using ops::KernelTable;

}  // namespace ebb::backends
