// Programs that are recorded from a function of tensors, and what they give.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "ebb/ebb.hpp"
#include "support/test_device.hpp"

namespace ebb::test {

using Tensors = std::vector<Tensor>;

class ProgramCase : public testing::Test {
 protected:
  static Tensor numbers(const std::vector<std::int64_t>& shape, double seed) {
    return ops::random_uniform(shape, {.low = -2, .high = 2, .seed = seed});
  }
  Tensors run(const Program& program, const Tensors& given) {
    std::vector<Handle> handles;
    for (const Tensor& each : given) handles.push_back(each.handle());
    std::vector<ops::OpResult> results(program.outputs());
    program.run(session_.place(), handles, results);
    Tensors made;
    for (const ops::OpResult& each : results) made.emplace_back(context_, each.handle);
    return made;
  }
  template <typename Function>
  Program recorded(const Tensors& inputs, Function function, ProgramOptions options = {}) {
    std::vector<Handle> handles, outputs;
    for (const Tensor& each : inputs) handles.push_back(each.handle());
    options.captures = false;
    ProgramDraft draft(context_, handles, options);
    const Tensors made = function(inputs);
    for (const Tensor& each : made) outputs.push_back(each.handle());
    return draft.finish(outputs);
  }

  // On a device that works on its own, for which programs are planned in another way.
  bool is_queued() { return session_.device().link() != nullptr; }

  TestSession session_;
  Context& context_ = session_.context();
};

// As bits: NaN is what it is.
inline std::vector<std::uint32_t> bits(const Tensor& x) {
  std::vector<std::uint32_t> read(x.shape().elements());
  x.read(std::as_writable_bytes(std::span(read)));
  return read;
}

inline void expect_same(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape()) << i;
    ASSERT_EQ(bits(a[i]), bits(b[i])) << i;
  }
}

// check(ours, theirs) for the numbers of two results, one by one.
template <typename Check>
void compare(const Tensors& a, const Tensors& b, Check check) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape()) << i;
    const std::vector<float> ours = a[i].to_vector<float>(), theirs = b[i].to_vector<float>();
    for (std::size_t k = 0; k < ours.size(); ++k) {
      SCOPED_TRACE(testing::Message() << "result " << i << ", element " << k);
      check(ours[k], theirs[k]);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace ebb::test
