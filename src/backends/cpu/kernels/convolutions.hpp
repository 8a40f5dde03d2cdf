// Convolutions by their windows, whichever way Ebb was built to make them: convolutions_dnn.cpp by
// oneDNN, convolutions_blocked.cpp by products of blocks. What needs no arithmetic, and what
// Winograd's way suits, convolutions.cpp keeps to itself.
#pragma once

#include "ops/op_call.hpp"
#include "ops/params/convolutions.hpp"

namespace ebb::cpu {

// Each: Pre: no operand or result is empty, and some window touches data.

// The epilogue included. `bias`: it is one number a channel, and the channels are last.
void convolve_windows(ops::OpCall& call, const ops::Convolution& convolution, bool bias);
void convolve_windows_back_filter(ops::OpCall& call, const ops::Convolution& convolution);
void convolve_windows_back_input(ops::OpCall& call, const ops::Convolution& convolution);

}  // namespace ebb::cpu
