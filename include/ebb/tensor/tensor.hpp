// A tensor as a C++ value: it ends with its variable.
//
//   Tensor a = ...;            // made by an operation, or by tensor() of ebb/ops/session.hpp
//   Tensor b = a;              // another tensor over the same memory, copied never
//   std::vector<float> values = a.to_vector<float>();
//
// Tensors do not change once they are made, so sharing memory cannot be seen. A tensor whose region
// has closed is an error with a name when it is used, and harmless when it is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ebb/tensor/context.hpp"

namespace ebb {

// The dtype that holds T's, for the types that C++ has.
template <typename T>
inline constexpr DType kDTypeOf = DType::kUnknown;
template <>
inline constexpr DType kDTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kFloat64;
template <>
inline constexpr DType kDTypeOf<std::int32_t> = DType::kInt32;
template <>
inline constexpr DType kDTypeOf<std::int64_t> = DType::kInt64;
template <>
inline constexpr DType kDTypeOf<std::uint8_t> = DType::kUint8;
template <>
inline constexpr DType kDTypeOf<std::int8_t> = DType::kInt8;
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;

class [[nodiscard]] Tensor {
 public:
  Tensor() = default;  // none
  // Takes over a tensor that nobody else will end.
  Tensor(const Context& context, Handle handle) noexcept : context_(context), handle_(handle) {}
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept
      : context_(other.context_), handle_(std::exchange(other.handle_, 0)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Tensor();

  explicit operator bool() const noexcept { return handle_ != 0; }
  Handle handle() const noexcept { return handle_; }
  // Pre: not none.
  const Context& context() const noexcept { return context_; }
  Device& device() const;
  DType dtype() const;
  Shape shape() const;

  // The caller ends it from now on.
  Handle release() noexcept { return std::exchange(handle_, 0); }

  // All elements, dense and in row-major order. `bytes` must be as many as the tensor has.
  void read(std::span<std::byte> bytes) const;
  template <typename T>
  std::vector<T> to_vector() const {
    static_assert(kDTypeOf<T> != DType::kUnknown && !std::is_same_v<T, bool>,
                  "read bool as std::uint8_t");
    std::vector<T> values(static_cast<std::size_t>(checked_elements(kDTypeOf<T>)));
    read(std::as_writable_bytes(std::span(values)));
    return values;
  }
  // Of a tensor with one element.
  template <typename T>
  T item() const {
    if (shape().elements() != 1) {
      raise(ErrorKind::kInvalidArgument, "[item] shape {} was given, one element is needed",
            shape().to_string());
    }
    return to_vector<T>()[0];
  }

 private:
  std::uint64_t checked_elements(DType dtype) const;

  Context context_;
  Handle handle_ = 0;
};

}  // namespace ebb
