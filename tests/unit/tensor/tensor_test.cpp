// Tensors as values, and operands that are held while something works on them.
#include "ebb/tensor/tensor.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/hosts.hpp"

namespace ebb {
namespace {

class TensorValue : public testing::Test {
 protected:
  Tensor make(const std::vector<float>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    MadeTensor made = context_->make_held({.device = cpu_.get(), .shape = {count}});
    std::memcpy(made.data, values.data(), values.size() * sizeof(float));
    return Tensor(*context_, made.handle);
  }
  Books books() { return context_->memory().books; }

  test::OpenDevice cpu_{{.name = "tensor value"}};
  ContextPtr context_ = Context::create({.name = "tensor value"});
};

TEST_F(TensorValue, ReadsWhatWasWritten) {
  const Tensor x = make({1, 2, 3});
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(x.shape(), Shape{3});
  EXPECT_EQ(x.dtype(), DType::kFloat32);
  EXPECT_EQ(&x.device(), cpu_.get());
  EXPECT_EQ(make({7}).item<float>(), 7);
}

TEST_F(TensorValue, EndsWithItsVariable) {
  {
    Tensor x = make({1});
    const Tensor copy = x;
    const Tensor moved = std::move(x);
    EXPECT_EQ(books().live, 2u);
    EXPECT_EQ(books().storages.count, 1u);
    EXPECT_EQ(copy.item<float>(), moved.item<float>());
  }
  EXPECT_EQ(books().live, 0u);
}

TEST_F(TensorValue, AssignmentEndsWhatWasThere) {
  Tensor x = make({1});
  x = make({2});
  EXPECT_EQ(books().live, 1u);
  EXPECT_EQ(x.item<float>(), 2);
  x = Tensor();
  EXPECT_FALSE(x);
  EXPECT_EQ(books().live, 0u);
}

TEST_F(TensorValue, ReleasedIsTheCallers) {
  Handle handle = 0;
  {
    Tensor x = make({1});
    handle = x.release();
  }
  EXPECT_EQ(books().live, 1u);
  context_->dispose(handle);
}

TEST_F(TensorValue, OutlivesItsContextHarmlessly) {
  Tensor x = make({1});
  context_.reset();
  EXPECT_ERROR(x.to_vector<float>(), kStaleHandle, "the context has ended");
}

TEST_F(TensorValue, SaysWhatIsWrong) {
  const Tensor x = make({1, 2});
  EXPECT_ERROR(x.to_vector<std::int32_t>(), kInvalidArgument, "int32", "float32");
  EXPECT_ERROR(x.item<float>(), kInvalidArgument, "[item] shape [2]");
  std::vector<std::byte> bytes(3);
  EXPECT_ERROR(x.read(bytes), kInvalidArgument, "[read] 3 bytes", "8");
  EXPECT_ERROR(Tensor().dtype(), kInvalidArgument, "none");
  EXPECT_ERROR(Tensor().read(bytes), kInvalidArgument, "no tensor");
}

TEST_F(TensorValue, OperandsOutliveTheirTensors) {
  Tensor x = make({5});
  const Handle handles[] = {x.handle(), 0};
  std::array<Operand, 2> operands;
  context_->resolve(handles, operands, "test");
  EXPECT_TRUE(operands[0]);
  EXPECT_FALSE(operands[1]);
  x = Tensor();
  EXPECT_EQ(books().held.count, 1u);
  float value = 0;
  std::memcpy(&value, operands[0].data, sizeof value);
  EXPECT_EQ(value, 5);
}

TEST_F(TensorValue, NothingIsHeldWhereOneOperandHasEnded) {
  const Tensor x = make({5});
  const Handle ended = make({6}).handle();
  const Handle handles[] = {x.handle(), ended};
  std::array<Operand, 2> operands;
  EXPECT_ERROR(context_->resolve(handles, operands, "test"), kStaleHandle, "[test]", "has ended");
  operands = {};
  EXPECT_EQ(books().held.count, 0u);
}

}  // namespace
}  // namespace ebb
