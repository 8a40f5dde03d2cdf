#include "grad/backprop.hpp"

namespace ebb::gradients {

bool is_differentiable(DType dtype) noexcept {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBfloat16:
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kComplex64:
      return true;
    default:
      return false;
  }
}

Tensor Backprop::dy_or_zeros(std::size_t i) const {
  return dys_[i] ? dys_[i] : zeros(outputs_[i].shape, outputs_[i].dtype);
}

const Tensor& Backprop::kept(const Slot& slot) const {
  if (!slot.kept) {
    raise(ErrorKind::kInternal, "[{}] its gradient asks for what its row does not keep",
          spec_.name);
  }
  return slot.kept;
}

void Backprop::give(std::size_t i, Tensor dx) {
  if (dx.shape() != x_shape(i)) {
    raise(ErrorKind::kInternal, "[{}] its gradient by input {} is {}, the input is {}", spec_.name,
          i, dx.shape().to_string(), x_shape(i).to_string());
  }
  const DType dtype = x_dtype(i);
  if (dx.dtype() != dtype) {
    dx = ops::cast(dx.dtype() == DType::kComplex64 ? ops::real(dx) : dx, dtype);
  }
  dxs_[i] = std::move(dx);
}

void Backprop::give_summed(std::size_t i, const Tensor& dx) { give(i, summed_to(dx, x_shape(i))); }

std::size_t Backprop::offset(std::size_t i) const noexcept {
  using ops::AttributeType;
  std::size_t at = 0;
  for (std::size_t each = 0; each < i; ++each) {
    const AttributeType type = spec_.attributes[each].type;
    const bool list = type == AttributeType::kIntegers || type == AttributeType::kNumbers;
    at += list ? 1 + static_cast<std::size_t>(values_[at]) : 1;  // arithmetic: within values_
  }
  return at;
}

Dims Backprop::integers(std::size_t i) const {
  const std::size_t at = offset(i);
  const auto count = static_cast<std::size_t>(values_[at]);
  Dims list;
  for (const double each : values_.subspan(at + 1, count)) {
    list.push_back(static_cast<std::int64_t>(each));
  }
  return list;
}

std::size_t Backprop::axis(std::size_t i, std::size_t rank) const noexcept {
  const std::int64_t given = integer(i);
  // arithmetic: of axes that the operation has checked
  return static_cast<std::size_t>(given < 0 ? given + static_cast<std::int64_t>(rank) : given);
}

Dims Backprop::axes(std::size_t i, std::size_t rank) const {
  Dims list = integers(i);
  for (std::int64_t& each : list) {
    if (each < 0) each += static_cast<std::int64_t>(rank);  // arithmetic: of axes
  }
  return list;
}

void Backprop::refuse(std::string_view what) const {
  raise(ErrorKind::kUnsupported, "[{}] the gradient is not built {}", spec_.name, what);
}

Dims with_ones(const Shape& shape, const Dims& axes) {
  Dims dims = dims_of(shape);
  for (const std::int64_t axis : axes) dims[static_cast<std::size_t>(axis)] = 1;
  return dims;
}

Tensor zeros(const Shape& shape, DType dtype) { return ops::fill(dims_of(shape), 0, dtype); }

Tensor summed_to(const Tensor& x, const Shape& shape) {
  const Shape wide = x.shape();
  if (wide == shape) return x;
  const std::size_t missing = wide.rank() - shape.rank();
  Dims axes;
  for (std::size_t i = 0; i < wide.rank(); ++i) {
    const bool repeated = i < missing || (shape.dims()[i - missing] == 1 && wide.dims()[i] != 1);
    if (repeated) axes.push_back(static_cast<std::int64_t>(i));
  }
  return reshaped(axes.empty() ? x : ops::sum(x, axes), shape);
}

Tensor conjugate(const Tensor& x) {
  if (x.dtype() != DType::kComplex64) return x;
  return ops::complex(ops::real(x), ops::neg(ops::imag(x)));
}

}  // namespace ebb::gradients
