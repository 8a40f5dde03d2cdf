// How far a model's results are from what they should be: one number, the mean over the batch.
#pragma once

#include "ebb/tensor/tensor.hpp"

namespace ebb::nn {

// Of all elements; `y` is what it should be.
Tensor mean_squared_error(const Tensor& predicted, const Tensor& y);
Tensor mean_absolute_error(const Tensor& predicted, const Tensor& y);
// Squares near 0, straight beyond `delta`.
Tensor huber_loss(const Tensor& predicted, const Tensor& y, double delta = 1);

// Of the classes along the last axis. `labels` are their numbers (of an integer dtype), or shares of
// the shape of the logits. A number that is none of the classes is an error; on a GPU, which would have to
// wait for that, its row counts as 0. A logit of -infinity is a class that cannot be: fine for numbers that
// name others, but NaN on a GPU, and NaN where the share is 0.
Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& labels);
// Of each element by itself; `targets` are from 0 to 1.
Tensor sigmoid_cross_entropy(const Tensor& logits, const Tensor& targets);

// The share of results whose largest element is the label's, not a loss: it has no gradient. A number
// that is none of the classes is never found.
Tensor accuracy(const Tensor& logits, const Tensor& labels);

}  // namespace ebb::nn
