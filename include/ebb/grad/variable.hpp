// A tensor that a program changes: a weight. It keeps its name and shape, its value is replaced.
//
//   Variable w(ops::random_normal({784, 128}), "dense/kernel");
//   Tensor y = ops::batch_mat_mul(x, w);
//   w.assign(w - gradient * 0.1);
#pragma once

#include <string>
#include <utility>

#include "ebb/tensor/tensor.hpp"

namespace ebb {

class Variable {
 public:
  explicit Variable(Tensor value, std::string name = {});

  const Tensor& value() const noexcept { return value_; }
  operator const Tensor&() const noexcept { return value_; }  // NOLINT: it stands for its value
  const std::string& name() const noexcept { return name_; }
  void rename(std::string name) { name_ = std::move(name); }

  // Throws Error(kInvalidArgument) where shape or dtype differ. The value belongs to no scope from
  // then on.
  void assign(Tensor value);

 private:
  Tensor value_;
  std::string name_;
};

}  // namespace ebb
