// Signals as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp signal` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

inline Tensor fft(const Tensor& input) { return apply_one(op_id("FFT"), {&input}, {}); }
inline Tensor ifft(const Tensor& input) { return apply_one(op_id("IFFT"), {&input}, {}); }

}  // namespace ebb::ops
