// Operations on one device, for benchmarks: results are disposed at once.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "ebb/ops/run.hpp"

namespace ebb::bench {

class Bench {
 public:
  Handle tensor(const Shape& shape, float from = -1, float to = 1) {
    const Handle handle = context_->make({.device = &cpu_, .shape = shape});
    std::vector<float> values(shape.elements());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = from + (to - from) * static_cast<float>(i * 37 % 101) / 101;
    }
    ops::write(*context_, handle, std::as_bytes(std::span(values)));
    return handle;
  }
  void run(ops::OpId op, std::span<const Handle> inputs, std::span<const double> attributes) {
    ops::OpResult result;
    ops::run({*context_, cpu_}, op, inputs, attributes, {&result, 1});
    context_->dispose(result.handle);
  }
  void make_and_end(const Shape& shape) {
    context_->dispose(context_->make({.device = &cpu_, .shape = shape}));
  }

 private:
  Device& cpu_ = Device::open({.name = "cpu"});
  ContextPtr context_ = Context::create({.name = "bench"});
};

}  // namespace ebb::bench
