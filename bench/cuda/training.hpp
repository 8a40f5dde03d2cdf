// Training steps written from operations: forward, backward by hand, stochastic gradient descent.
//
// The gradient is multiplied by -rate where it begins, at the logits. What follows is linear, so a
// parameter's update is a product with the parameter as its addend: one launch each for weights and
// biases. bench/cuda/peer.py trains the same networks with the same optimizer.
#pragma once

#include "ebb/ebb.hpp"

namespace ebb::bench {

// Images with their labels, and the labels as the steps need them.
struct TrainingBatch {
  Tensor images;
  Tensor loss_labels;  // -1 / batch where the label is: times log(softmax), summed, the loss
  Tensor pull_labels;  // rate / batch where the label is
  Tensor pull;         // -rate / batch, a scalar
  Tensor ones;         // [1, batch]
};

TrainingBatch make_batch(std::int64_t size, const std::vector<std::int64_t>& image, double rate,
                         double seed);

struct StepResult {
  Tensor parameters;
  Tensor loss;
};

// 784-128-64-10. All parameters are one list of numbers; layers see parts of it.
class DenseNet {
 public:
  static constexpr std::int64_t kParameters = 784 * 128 + 128 + 128 * 64 + 64 + 64 * 10 + 10;
  static Tensor initial(double seed);
  static StepResult step(const Tensor& parameters, const TrainingBatch& batch);
};

// The network of TensorFlow.js's MNIST example: 8 of 5x5, pool, 16 of 5x5, pool, 10.
class ConvNet {
 public:
  static constexpr std::int64_t kParameters = 25 * 8 + 8 + 25 * 8 * 16 + 16 + 256 * 10 + 10;
  static Tensor initial(double seed);
  static StepResult step(const Tensor& parameters, const TrainingBatch& batch);
};

}  // namespace ebb::bench
