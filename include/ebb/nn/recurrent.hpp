// Layers that read a sequence [batch, time, in] step by step, with weights as Keras lays them out.
//
//   nn::LSTM lstm(64, 128);
//   Tensor last = lstm(x);                                  // [batch, 128]
//   nn::GRU gru(64, 128, {.sequences = true});              // [batch, time, 128]
#pragma once

#include "ebb/nn/initial.hpp"
#include "ebb/nn/layer.hpp"

namespace ebb::nn {

struct RecurrentOptions {
  bool sequences = false;  // the result of each step, not of the last one alone
};

// Gates in the order input, forget, cell, output; the forget gate's bias begins with 1.
class LSTM final : public Layer {
 public:
  LSTM(std::int64_t in, std::int64_t units, const RecurrentOptions& options = {});
  Tensor operator()(const Tensor& x) override;
  void parts(Parts& parts) override;

  Variable kernel;            // [in, 4 units]
  Variable recurrent_kernel;  // [units, 4 units]
  Variable bias;              // [4 units]

 private:
  const std::int64_t units_;
  const RecurrentOptions options_;
};

// Gates in the order update, reset, candidate; the reset gate comes before the product.
class GRU final : public Layer {
 public:
  GRU(std::int64_t in, std::int64_t units, const RecurrentOptions& options = {});
  Tensor operator()(const Tensor& x) override;
  void parts(Parts& parts) override;

  Variable kernel;            // [in, 3 units]
  Variable recurrent_kernel;  // [units, 3 units]
  Variable bias;              // [3 units]

 private:
  const std::int64_t units_;
  const RecurrentOptions options_;
};

}  // namespace ebb::nn
