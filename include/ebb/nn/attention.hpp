// Each position of a sequence [batch, time, width] looks at all others, with several heads.
//
//   nn::Attention look(128, 4, {.causal = true});
//   x = x + look(norm(x));
#pragma once

#include "ebb/nn/dense.hpp"

namespace ebb::nn {

struct AttentionOptions {
  bool causal = false;  // a position sees itself and what comes before it
};

class Attention final : public Layer {
 public:
  // Throws Error(kInvalidArgument) where the heads do not divide the width.
  Attention(std::int64_t width, std::int64_t heads, const AttentionOptions& options = {});
  // Of the sequence to itself.
  Tensor operator()(const Tensor& x) override { return attend(x, x); }
  // Of one sequence to another, which may have another length. Causal: position i of x sees the
  // other's up to i.
  Tensor attend(const Tensor& x, const Tensor& other);
  void parts(Parts& parts) override;

  Dense query, key, value, output;

 private:
  Tensor split(const Tensor& x) const;
  Tensor hide_later(const Tensor& scores) const;

  const std::int64_t width_, heads_;
  const std::int64_t size_;  // of a head
  const AttentionOptions options_;
};

}  // namespace ebb::nn
