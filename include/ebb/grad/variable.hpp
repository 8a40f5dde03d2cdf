// A tensor that a program changes: a weight. It keeps its name and shape, its value is replaced.
//
//   Variable w(ops::random_normal({784, 128}), "dense/kernel");
//   Tensor y = ops::batch_mat_mul(x, w);
//   w.assign(w - gradient * 0.1);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ebb/tensor/tensor.hpp"

namespace ebb {

class Variable;

namespace detail {

// Where a variable is, for those who come back to it: it may move, or end.
struct VariablePlace {
  Variable* variable = nullptr;  // null: it has ended
  // How often it has moved, when somebody else may be where it was, or has got another shape or dtype.
  std::uint64_t changes = 0;
};

// Throws Error(kInvalidArgument) where one is null.
void check_are_variables(std::span<Variable* const> variables, std::string_view who);

}  // namespace detail

class Variable {
 public:
  explicit Variable(Tensor value, std::string name = {});
  // A copy is another variable of the same value. What was moved from has no value.
  Variable(const Variable& other);
  Variable(Variable&& other) noexcept;
  Variable& operator=(const Variable& other);
  ~Variable();

  // A function that is being recorded hears of it (ebb/program/record.hpp), and only then may it throw.
  const Tensor& value() const;
  operator const Tensor&() const { return value(); }  // NOLINT: it stands for its value
  const std::string& name() const noexcept { return name_; }
  void rename(std::string name) { name_ = std::move(name); }

  // Throws Error(kInvalidArgument) where shape or dtype differ. The value belongs to no scope from
  // then on.
  void assign(Tensor value);

 private:
  friend class VariableListener;

  Tensor value_;
  std::string name_;
  std::shared_ptr<detail::VariablePlace> place_;
};

}  // namespace ebb
