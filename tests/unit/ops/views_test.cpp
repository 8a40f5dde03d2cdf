// Operations that need no kernel, and what is said where there is none.
#include <gtest/gtest.h>

#include "ebb/ops/run.hpp"
#include "ops/kernels.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/hosts.hpp"

namespace ebb::ops {
namespace {

class Views : public testing::Test {
 protected:
  Handle make(const Shape& shape, DType dtype = DType::kFloat32) {
    return context_->make({.device = cpu_.get(), .dtype = dtype, .shape = shape});
  }
  OpResult run(OpId op, std::vector<Handle> inputs, std::vector<double> attributes) {
    OpResult result;
    ops::run({*context_, *cpu_}, op, inputs, attributes, {&result, 1});
    return result;
  }
  std::uint64_t storages() { return context_->memory().books.storages.count; }

  test::OpenDevice cpu_{{.name = "views"}};
  ContextPtr context_ = Context::create({.name = "views"});
};

TEST_F(Views, ReshapeSharesTheMemory) {
  const Handle x = make({2, 6});
  const OpResult y = run(op_id("Reshape"), {x}, {2, 3, -1});
  EXPECT_EQ(y.shape, (Shape{3, 4}));
  EXPECT_EQ(storages(), 1u);
  context_->dispose(x);
  EXPECT_EQ(storages(), 1u);  // the view keeps it
  context_->dispose(y.handle);
  EXPECT_EQ(storages(), 0u);
}

TEST_F(Views, ARunOfRowsIsAView) {
  const Handle x = make({4, 3});
  const std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  write(*context_, x, std::as_bytes(std::span(values)));
  const OpResult rows = run(op_id("Slice"), {x}, {2, 1, 0, 2, 2, 3});
  EXPECT_EQ(storages(), 1u);
  std::vector<float> read_back(6);
  read(*context_, rows.handle, std::as_writable_bytes(std::span(read_back)));
  EXPECT_EQ(read_back, (std::vector<float>{3, 4, 5, 6, 7, 8}));
}

TEST_F(Views, ReshapeSaysWhatDoesNotFit) {
  const Handle x = make({2, 6});
  EXPECT_ERROR(run(op_id("Reshape"), {x}, {2, 5, -1}), kInvalidArgument, "[Reshape]", "12");
  EXPECT_ERROR(run(op_id("Reshape"), {x}, {2, -1, -1}), kInvalidArgument, "[Reshape]", "-1");
  EXPECT_ERROR(run(op_id("Reshape"), {x}, {3, 0x1p32, 0x1p32, -1}), kInvalidArgument,
               "[Reshape] shape [4294967296,4294967296", "12 elements");
  EXPECT_ERROR(run(op_id("ExpandDims"), {x}, {4}), kInvalidArgument, "[ExpandDims] axis 4",
               "-3 to 2");
  EXPECT_EQ(context_->memory().books.live, 1u);
}

TEST_F(Views, AMissingKernelIsNamed) {
  const Handle x = make({3});
  if (OpResult result; true) {
    EXPECT_ERROR(run(op_id("Relu"), {x}, {}), kUnsupported, "[Relu] not built", "views");
  }
  EXPECT_EQ(context_->memory().books.live, 1u) << "the output that was made is gone";
}

TEST_F(Views, WhatALibraryRefusesIsSaidInTheNameOfTheOperation) {
  static const KernelTable kernels = [] {
    KernelTable table;
    table.set(op_id("Floor"),
              [](OpCall&) { raise(ErrorKind::kUnsupported, "[library] it was refused"); });
    return table;
  }();
  install_kernels(kernels);
  const Handle x = make({3});
  EXPECT_ERROR(run(op_id("Floor"), {x}, {}), kUnsupported, "[Floor] [library] it was refused");
  EXPECT_EQ(context_->memory().books.live, 1u);
}

TEST_F(Views, CountsAndAttributesAreChecked) {
  const Handle x = make({3});
  EXPECT_ERROR(run(op_id("Reshape"), {}, {1, 3}), kInvalidArgument, "[Reshape] 0 inputs", "1");
  EXPECT_ERROR(run(op_id("Reshape"), {x, x}, {1, 3}), kInvalidArgument, "[Reshape] 2 inputs");
  EXPECT_ERROR(run(op_id("Reshape"), {0}, {1, 3}), kInvalidArgument, "input 0 was left out");
  EXPECT_ERROR(run(op_id("Reshape"), {x}, {}), kInvalidArgument, "attribute shape is missing");
  EXPECT_ERROR(run(op_id("Reshape"), {x}, {2, 3}), kInvalidArgument, "shape has 2 values");
  EXPECT_ERROR(run(op_id("Reshape"), {x}, {1, 1.5}), kInvalidArgument, "shape was 1.5");
  EXPECT_ERROR(run(op_id("Reshape"), {x}, {1, 3, 7}), kInvalidArgument, "3 attribute values");
  EXPECT_ERROR(run(op_id("Sum"), {x}, {0, 2}), kInvalidArgument, "keepDims was 2", "0 or 1");
  EXPECT_ERROR(run(op_id("Cast"), {x}, {99}), kInvalidArgument, "dtype was 99");
  EXPECT_ERROR(run(9999, {x}, {}), kInvalidArgument, "9999 names no operation");
}

TEST_F(Views, AnEndedOperandIsNamed) {
  const Handle x = make({3, 4});
  context_->dispose(x);
  EXPECT_ERROR(run(op_id("Identity"), {x}, {}), kStaleHandle, "[Identity]", "float32 [3,4]");
}

TEST_F(Views, ForeignOperandsAreRefused) {
  test::OpenDevice wasm({.kind = DeviceKind::kForeign, .name = "views wasm"});
  const Handle x = context_->adopt({.device = wasm.get(), .bytes = 4});
  EXPECT_ERROR(run(op_id("Identity"), {x}, {}), kInvalidArgument, "[Identity] input 0",
               "views wasm");
  context_->dispose(x);
}

TEST_F(Views, TooFewResultsLeaveNothing) {
  const Handle x = make({3});
  EXPECT_ERROR(ops::run({*context_, *cpu_}, op_id("Identity"), {{x}}, {}, {}), kInvalidArgument,
               "[Identity] it has 1 results");
  EXPECT_EQ(context_->memory().books.live, 1u);
}

TEST_F(Views, ReadAndWriteWantTheTensorsBytes) {
  const Handle x = make({3});
  std::vector<std::byte> bytes(11);
  EXPECT_ERROR(write(*context_, x, bytes), kInvalidArgument, "[tensor_write] 11 bytes", "12");
  EXPECT_ERROR(read(*context_, x, bytes), kInvalidArgument, "[tensor_read] 11 bytes", "12");
  EXPECT_ERROR(read(*context_, 0, bytes), kStaleHandle, "0 names no tensor");
}

}  // namespace
}  // namespace ebb::ops
