#include "ebb/tensor/tensor.hpp"

#include "tensor/looks.hpp"

namespace ebb {

constinit thread_local LookHook look_hook = nullptr;

namespace {

TensorInfo described(const Context& context, Handle handle) {
  if (handle == 0) raise(ErrorKind::kInvalidArgument, "[tensor] none was given, one is needed");
  return context.describe(handle);
}

Shape shape_of(const TensorInfo& info) {
  return Shape(std::span<const std::int64_t>(info.dims.data(), info.rank));
}

}  // namespace

Tensor::Tensor(const Tensor& other) : context_(other.context_) {
  if (!other) return;
  handle_ = context_.share(other.handle_, described(context_, other.handle_).region);
}

Tensor::~Tensor() {
  if (handle_ != 0) context_.discard(handle_);
}

Device& Tensor::device() const { return *described(context_, handle_).device; }
DType Tensor::dtype() const { return described(context_, handle_).dtype; }
Shape Tensor::shape() const { return shape_of(described(context_, handle_)); }

void Tensor::read(std::span<std::byte> bytes) const {
  if (handle_ == 0) raise(ErrorKind::kInvalidArgument, "[read] no tensor was given, one is needed");
  Operand operand;
  context_.resolve({&handle_, 1}, {&operand, 1}, "read");
  const std::uint64_t has = bytes_of(operand.shape, size_of(operand.dtype));
  if (bytes.size() != has) {
    raise(ErrorKind::kInvalidArgument, "[read] {} bytes were given, the tensor has {}",
          bytes.size(), has);
  }
  look_at(handle_, operand);
  context_.make_readable(handle_, operand);
  read_operand(operand, bytes);
}

std::uint64_t Tensor::checked_elements(DType asked) const {
  const TensorInfo info = described(context_, handle_);
  const bool same = info.dtype == asked || (info.dtype == DType::kBool && asked == DType::kUint8);
  if (!same) {
    raise(ErrorKind::kInvalidArgument, "[to_vector] {} was asked for, the tensor is {}",
          name_of(asked), name_of(info.dtype));
  }
  return shape_of(info).elements();
}

}  // namespace ebb
