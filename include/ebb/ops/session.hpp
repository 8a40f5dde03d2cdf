// Where a C++ program's tensors are made: a device and a context, for the length of a scope and the
// thread that opened it.
//
//   Session session;
//   Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
//   Tensor y = ops::relu(x - 2.5f) + x;
//   {
//     Scope scope;               // what is made here ends here
//     Tensor z = ops::exp(y);
//     y = scope.keep(z * z);     // but this
//   }
#pragma once

#include <initializer_list>
#include <string>

#include "ebb/ops/run.hpp"
#include "ebb/tensor/tensor.hpp"

namespace ebb {

struct SessionOptions {
  std::string device = "cpu";  // or "cuda:0"
  std::uint64_t budget = 0;    // bytes; 0: none. Of the device, if nobody has opened it before
  std::string name = "session";
  bool own_stream = false;  // on a GPU: its work is queued apart from other sessions'
};

class Session {
 public:
  // The innermost session of a thread is the one that counts.
  explicit Session(SessionOptions options = {});
  // In a context that somebody else ends, and outlives this.
  explicit Session(const ops::RunPlace& place);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Throws Error(kWrongState) where this thread has none.
  static Session& current();

  Context& context() noexcept { return context_; }
  Device& device() noexcept { return device_; }
  ops::RunPlace place() noexcept { return {context_, device_, region_, 0, stream_}; }

 private:
  friend class Scope;

  Device& device_;
  ContextPtr own_;  // null: it is somebody else's, and so are device and stream
  Context context_;
  RegionId region_ = 0;
  StreamId stream_ = kDefaultStream;
  Session* outer_;
};

// A region of the current session: the tensors made while it is open end with it.
class [[nodiscard]] Scope {
 public:
  explicit Scope(std::string_view label = {});
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // The tensor goes to the scope around this one.
  Tensor keep(Tensor tensor);

 private:
  Session& session_;
  RegionId outer_;
  RegionId region_;
};

namespace detail {
Tensor tensor_of(DType dtype, const Shape& shape, std::span<const std::byte> bytes);
}

// A tensor with these elements, in row-major order.
template <typename T>
Tensor tensor(std::span<const T> values, const Shape& shape) {
  static_assert(kDTypeOf<T> != DType::kUnknown);
  return detail::tensor_of(kDTypeOf<T>, shape, std::as_bytes(values));
}
template <typename T>
Tensor tensor(const std::vector<T>& values, const Shape& shape) {
  return tensor(std::span<const T>(values), shape);
}
template <typename T>
Tensor tensor(std::initializer_list<T> values, const Shape& shape) {
  return tensor(std::span<const T>(values.begin(), values.size()), shape);
}
// A scalar.
template <typename T>
Tensor scalar(T value) {
  return tensor(std::span<const T>(&value, 1), Shape{});
}

namespace ops {

// Runs an operation in the current session: what ebb/ops/functions.hpp is made of. A Tensor that is
// none stands for an optional input that is left out.
std::vector<Tensor> apply(OpId op, std::span<const Tensor* const> inputs,
                          std::span<const double> attributes);
Tensor apply_one(OpId op, std::initializer_list<const Tensor*> inputs,
                 std::span<const double> attributes);

}  // namespace ops
}  // namespace ebb
