// What recorded programs on a device that works on its own make of normalisations. None are rows of the table.
//
// A convolution that a batch normalisation follows is one operation (NormedConvolution, NormedDepthwise): inputs x, filter,
// mean, variance, offset and scale, channels last; attributes those of FusedConv2D, then the normalisation's epsilon.
//
// RowNorm takes x and one number epsilon: (x - mean) / sqrt(variance + epsilon), mean and variance of x along its last axis.
#pragma once

#include "ops/meaning.hpp"
#include "ops/op_call.hpp"
#include "ops/params/program_ops.hpp"

namespace ebb::ops {

// Null: it is none of these.
const OpSpec* find_normed_op(OpId op) noexcept;

// The meanings.
void add_normed_convolutions(MeaningTable& table);  // convolutions.cpp
void add_normed(MeaningTable& table);

}  // namespace ebb::ops
