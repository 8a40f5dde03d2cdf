// One noted call, as its gradient sees it: what reaches the results, what was kept, and where to
// put what reaches the inputs.
//
//   void multiply(Backprop& call) {
//     if (call.wants(0)) call.give_summed(0, call.dy() * call.x(1));
//     if (call.wants(1)) call.give_summed(1, call.dy() * call.x(0));
//   }
#pragma once

#include <span>
#include <vector>

#include "ebb/ops/operators.hpp"
#include "grad/row.hpp"

namespace ebb::gradients {

using Dims = std::vector<std::int64_t>;
using NodeId = std::uint32_t;
inline constexpr NodeId kConstantNode = ~NodeId{0};  // of what nothing watched leads to

// An input or a result of a noted call.
struct Slot {
  Shape shape;
  DType dtype = DType::kUnknown;
  NodeId node = kConstantNode;
  Tensor kept{};
};

class Backprop {
 public:
  // `dys` are one for each output, none where nothing depends on it; `dxs` one for each input.
  Backprop(const ops::OpSpec& spec, std::span<const double> attributes,
           std::span<const Slot> inputs, std::span<const Slot> outputs, std::span<const Tensor> dys,
           std::span<Tensor> dxs)
      : spec_(spec),
        values_(attributes),
        inputs_(inputs),
        outputs_(outputs),
        dys_(dys),
        dxs_(dxs) {}

  const ops::OpSpec& spec() const noexcept { return spec_; }
  std::size_t inputs() const noexcept { return inputs_.size(); }
  std::size_t outputs() const noexcept { return outputs_.size(); }
  // Whether the gradient by that input is asked for.
  bool wants(std::size_t i) const noexcept {
    return i < inputs_.size() && inputs_[i].node != kConstantNode;
  }
  bool has(std::size_t i) const noexcept {
    return i < inputs_.size() && inputs_[i].dtype != DType::kUnknown;
  }

  // What reaches a result. The first is there where the operation has one result only.
  const Tensor& dy(std::size_t i = 0) const noexcept { return dys_[i]; }
  // The same, zeros where nothing reaches it.
  Tensor dy_or_zeros(std::size_t i) const;

  // Pre: the row says that it is kept.
  const Tensor& x(std::size_t i = 0) const { return kept(inputs_[i]); }
  const Tensor& y(std::size_t i = 0) const { return kept(outputs_[i]); }
  const Shape& x_shape(std::size_t i = 0) const noexcept { return inputs_[i].shape; }
  const Shape& y_shape(std::size_t i = 0) const noexcept { return outputs_[i].shape; }
  DType x_dtype(std::size_t i = 0) const noexcept { return inputs_[i].dtype; }

  // The gradient by an input: of its shape, and converted to its dtype.
  void give(std::size_t i, Tensor dx);
  // The same, of a shape that the input was broadcast to: summed over what it was repeated along.
  void give_summed(std::size_t i, const Tensor& dx);

  // Attributes, by their position in the table.
  bool boolean(std::size_t i) const noexcept { return values_[offset(i)] != 0; }
  std::int64_t integer(std::size_t i) const noexcept {
    return static_cast<std::int64_t>(values_[offset(i)]);
  }
  double number(std::size_t i) const noexcept { return values_[offset(i)]; }
  Dims integers(std::size_t i) const;
  // An axis, counted from the front.
  std::size_t axis(std::size_t i, std::size_t rank) const noexcept;
  // Axes, counted from the front.
  Dims axes(std::size_t i, std::size_t rank) const;

  [[noreturn]] void refuse(std::string_view what) const;

 private:
  std::size_t offset(std::size_t i) const noexcept;
  const Tensor& kept(const Slot& slot) const;

  const ops::OpSpec& spec_;
  std::span<const double> values_;
  std::span<const Slot> inputs_, outputs_;
  std::span<const Tensor> dys_;
  std::span<Tensor> dxs_;
};

// ---- what several gradients need

inline Dims dims_of(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }
// The shape with extents of 1 along axes, which are counted from the front.
Dims with_ones(const Shape& shape, const Dims& axes);
inline std::int64_t count_of(const Shape& shape) {
  return static_cast<std::int64_t>(shape.elements());
}
inline Tensor reshaped(const Tensor& x, const Shape& shape) {
  return ops::reshape(x, dims_of(shape));
}
Tensor zeros(const Shape& shape, DType dtype);
// Summed over the axes along which `shape` was repeated to make the tensor's.
Tensor summed_to(const Tensor& x, const Shape& shape);
// 1 where the condition holds, 0 elsewhere, of a dtype.
inline Tensor mask(const Tensor& condition, DType dtype) { return ops::cast(condition, dtype); }
// The complex conjugate; a real tensor as it is.
Tensor conjugate(const Tensor& x);
bool is_differentiable(DType dtype) noexcept;

}  // namespace ebb::gradients
