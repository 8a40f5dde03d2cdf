// Winograd's convolutions of many channels as products of matrices. U is sixteen matrices [channel,
// filter], V of some tiles sixteen of [tile, channel]; what they come to is sixteen of [tile, filter],
// which is transformed back while it is in the cache. Each number of U is used for as many tiles as
// V has, where a band's four would fetch all of U again and again.
#pragma once

#include "backends/cpu/kernels/convolutions_winograd_data.hpp"

namespace ebb::cpu::winograd {

// Whether channels and filters are many enough for it to be faster than bands.
bool are_products(const ops::Convolution& convolution) noexcept;

// How many floats U takes, and what the team's threads work in.
std::size_t products_floats(const ops::Convolution& convolution);

// As run_winograd().
void run_products(const ops::Convolution& convolution, const WinogradOperands& operands,
                  ops::Activation activation);

}  // namespace ebb::cpu::winograd
