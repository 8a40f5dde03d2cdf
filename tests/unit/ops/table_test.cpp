#include "ebb/ops/table.hpp"

#include <gtest/gtest.h>

namespace ebb::ops {
namespace {

TEST(OpTable, FindsByNameAndById) {
  const OpSpec* relu = find_op("Relu");
  ASSERT_NE(relu, nullptr);
  EXPECT_EQ(find_op(relu->id), relu);
  EXPECT_EQ(op_id("Relu"), relu->id);
  EXPECT_EQ(find_op("relu"), nullptr);
  EXPECT_EQ(find_op(OpId{0}), nullptr);
  EXPECT_EQ(find_op(OpId{255}), nullptr);
  EXPECT_EQ(find_op(OpId{100000}), nullptr);
}

// Ids are for ever: these are what hosts were built with.
TEST(OpTable, KeepsItsIds) {
  EXPECT_EQ(op_id("Abs"), 1u);
  EXPECT_EQ(op_id("Add"), 50u);
  EXPECT_EQ(op_id("Reshape"), 101u);
  EXPECT_EQ(op_id("Sum"), 148u);
  EXPECT_EQ(op_id("BatchMatMul"), 200u);
  EXPECT_EQ(op_id("Conv2D"), 205u);
  EXPECT_EQ(op_id("LogSoftmax"), 239u);
  EXPECT_EQ(op_id("AdamUpdate"), 245u);
}

TEST(OpTable, HashFitsADouble) {
  EXPECT_GT(table_hash(), 0u);
  EXPECT_LE(table_hash(), std::uint64_t{1} << 53);
}

TEST(OpTable, HasTheNumericKernelsOfTensorFlowJs) {
  for (const char* name :
       {"BatchMatMul", "_FusedMatMul", "FusedConv2D", "FusedDepthwiseConv2D", "FusedBatchNorm",
        "NonMaxSuppressionV5", "RaggedTensorToTensor", "SparseFillEmptyRows", "UnsortedSegmentSum",
        "TensorScatterUpdate", "MaxPoolWithArgmax", "RotateWithOffset", "BitwiseAnd", "IFFT"}) {
    EXPECT_NE(find_op(name), nullptr) << name;
  }
  EXPECT_EQ(kOpCount, 177u);  // 172 of its 180, the rest text, pixels and Einsum; and five of ours
}

}  // namespace
}  // namespace ebb::ops
