// A context and a device to run operations in, from values to values.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "ebb/ops/run.hpp"
#include "support/hosts.hpp"
#include "support/test_device.hpp"

namespace ebb::test {

template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::kFloat32;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::kInt32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::kInt64;
  if constexpr (std::is_same_v<T, double>) return DType::kFloat64;
  return DType::kUnknown;
}

class OpWorld {
 public:
  explicit OpWorld(std::uint64_t budget = 0) : cpu_(device_options("op world", budget)) {}

  Handle make(DType dtype, const Shape& shape) {
    const Handle made = context_->make({.device = cpu_.get(), .dtype = dtype, .shape = shape});
    const std::vector<std::byte> zeros(bytes_of(shape, size_of(dtype)));
    ops::write(*context_, made, zeros);
    return made;
  }

  template <typename T>
  Handle make(const Shape& shape, std::initializer_list<T> values) {
    const Handle made =
        context_->make({.device = cpu_.get(), .dtype = dtype_of<T>(), .shape = shape});
    ops::write(*context_, made, std::as_bytes(std::span(values.begin(), values.size())));
    return made;
  }

  std::vector<ops::OpResult> run(std::string_view op, std::vector<Handle> inputs,
                                 std::vector<double> attributes = {}) {
    std::vector<ops::OpResult> results(16);
    results.resize(ops::run({*context_, *cpu_}, ops::find_op(op)->id, inputs, attributes, results));
    return results;
  }

  template <typename T>
  std::vector<T> read(const ops::OpResult& result) {
    std::vector<T> values(result.shape.elements());
    ops::read(*context_, result.handle, std::as_writable_bytes(std::span(values)));
    return values;
  }

  Context& context() { return *context_; }
  Device& device() { return *cpu_; }
  std::uint64_t live() { return context_->memory().books.live; }

 private:
  OpenDevice cpu_;
  ContextPtr context_ = Context::create({.name = "op world"});
};

}  // namespace ebb::test
