#include "ebb/ops/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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
  EXPECT_EQ(op_id("RmsPropUpdate"), 251u);
}

TEST(OpTable, CountsInputsByTheirNames) {
  const OpSpec& fused = *find_op("FusedConv2D");
  EXPECT_EQ(fused.inputs[2], "bias?");
  EXPECT_EQ(fused.least_inputs, 2u);
  EXPECT_EQ(fused.most_inputs, 4u);
  const OpSpec& ragged = *find_op("RaggedGather");
  EXPECT_EQ(ragged.least_inputs, 3u);
  EXPECT_EQ(ragged.most_inputs, kAny);
  EXPECT_EQ(find_op("Fill")->most_inputs, 0u);
}

TEST(OpTable, KnowsWhereAnAttributeIs) {
  EXPECT_EQ(attribute_at("TopK", "sorted"), 1u);
  EXPECT_EQ(attribute_of_all("keepDims", "Sum", "Mean"), 1u);
}

// `method` and `interpolation` mean one thing.
TEST(OpTable, HasOneListForTheSameWords) {
  const Attribute& method =
      find_op("CropAndResize")->attributes[attribute_at("CropAndResize", "method")];
  const Attribute& interpolation =
      find_op("Transform")->attributes[attribute_at("Transform", "interpolation")];
  EXPECT_EQ(method.words, interpolation.words);
  EXPECT_EQ(method.words->words[static_cast<std::size_t>(Interpolation::kNearest)], "nearest");
  for (const OpSpec& spec : kTable) {
    for (std::size_t i = 0; i < spec.attribute_count(); ++i) {
      const Attribute& each = spec.attributes[i];
      if (!each.has_words() || each.fallback.empty()) continue;
      const auto& words = each.words->words;
      EXPECT_NE(std::ranges::find(words, each.fallback), words.end()) << spec.name;
    }
  }
}

TEST(OpTable, HasEachRowInOneFamily) {
  std::size_t rows = 0;
  for (const Family& family : kFamilies) rows += family.rows.size();
  EXPECT_EQ(rows, kOpCount);
  EXPECT_EQ(family_of(op_id("Slice")).name, "views");
  EXPECT_EQ(family_of(op_id("AdamUpdate")).name, "optimizers");
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
  EXPECT_EQ(kOpCount, 183u);  // 172 of its 180, the rest text, pixels and Einsum; eleven of ours
}

}  // namespace
}  // namespace ebb::ops
