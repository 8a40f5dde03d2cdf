// What operations refuse: by rank, dtype, extent and data. Each says what was given and what is
// allowed, and leaves nothing behind.
#include <gtest/gtest.h>

#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/op_world.hpp"

namespace ebb::test {
namespace {

struct Given {
  DType dtype;
  Shape shape;
  std::vector<std::int32_t> values{};  // int32 only; empty: zeros
};

struct Refusal {
  const char* op;
  std::vector<Given> inputs;
  std::vector<double> attributes;
  const char* says;
};

constexpr DType kF = DType::kFloat32, kI = DType::kInt32, kC = DType::kComplex64;

Given ints(const Shape& shape, std::vector<std::int32_t> values) {
  return {kI, shape, std::move(values)};
}

std::vector<Refusal> refusals() {
  const Given image{kF, {1, 4, 4, 2}}, boxes{kF, {3, 4}}, scores{kF, {3}};
  const Given data{kF, {10, 2}}, scalar{kF, {}};
  const std::vector<double> adam{0.9, 0.999, 0.001, 1e-7};
  return {
      // signals
      {"FFT", {{kF, {4}}}, {}, "input 0 has dtype float32, complex64 is allowed"},
      {"IFFT", {{kC, {}}}, {}, "a scalar was given, rank 1 and more are allowed"},
      // sorting
      {"TopK", {{kF, {2, 3}}}, {4, 1}, "k was 4, 0 to 3 are allowed for shape [2,3]"},
      {"TopK", {{kF, {2, 3}}}, {-1, 1}, "k was -1"},
      {"TopK", {scalar}, {1, 1}, "a scalar was given"},
      {"TopK", {{kC, {3}}}, {1, 1}, "dtype complex64, a real one is allowed"},
      {"TopK", {{kF, {3}}}, {1}, "attribute sorted is missing"},
      {"Unique", {{kF, {2, 3}}}, {2}, "axis 2 was given, -2 to 1 are allowed for rank 2"},
      {"Unique", {scalar}, {0}, "a scalar was given"},
      {"SearchSorted", {{kF, {2, 3}}, {kI, {2, 3}}}, {0}, "dtypes float32 and int32 were given"},
      {"SearchSorted", {{kF, {2, 3}}, {kF, {3, 3}}}, {0}, "shapes [2,3] and [3,3] were given"},
      {"LowerBound", {{kF, {3}}, {kF, {3}}}, {}, "shapes [3] and [3] were given"},
      // images
      {"ResizeBilinear",
       {{kF, {4, 4, 2}}},
       {2, 2, 2, 0, 0},
       "input 0 is [4,4,2], rank 4 is allowed"},
      {"ResizeBilinear", {image}, {2, 0, 2, 0, 0}, "attribute size was [0,2]"},
      {"ResizeBilinear", {image}, {3, 1, 1, 1, 0, 0}, "attribute size was [1,1,1]"},
      {"ResizeBilinear", {{kC, {1, 4, 4, 2}}}, {2, 2, 2, 0, 0}, "dtype complex64"},
      {"ResizeNearestNeighbor", {{kF, {1, 0, 4, 2}}}, {2, 2, 2, 0, 0}, "images of [1,0,4,2]"},
      {"ResizeBilinearGrad", {image, {kF, {2, 2, 2, 2}}}, {0}, "images are [1,4,4,2] and dy is"},
      {"CropAndResize", {image, {kF, {3, 3}}, {kI, {3}}}, {2, 2, 2, 0, 0}, "boxes are [3,3]"},
      {"CropAndResize",
       {image, boxes, {kI, {2}}},
       {2, 2, 2, 0, 0},
       "there are 3 boxes, and [2] say"},
      {"CropAndResize", {image, boxes, {kI, {3}}}, {2, 2, 2, 7, 0}, "method was 7, 0 (bilinear)"},
      {"CropAndResize",
       {image, boxes, ints({3}, {0, -1, 0})},
       {2, 2, 2, 0, 0},
       "box 1 is of image -1"},
      {"RotateWithOffset", {image}, {1, 2, 0, 0, 0}, "0 numbers were given for the center"},
      {"RotateWithOffset",
       {{kF, {1, 2, 2, 3}}},
       {1, 2, 0, 0, 2, 0.5, 0.5},
       "2 fill values were given"},
      {"Transform", {image, {kF, {2, 8}}}, {0, 0, 0, 2, 4, 4}, "transforms are [2,8]"},
      {"Transform", {image, {kF, {1, 8}}}, {2, 0, 0, 2, 4, 4}, "interpolation was 2"},
      {"Transform",
       {image, {kF, {1, 8}}},
       {0, 4, 0, 2, 4, 4},
       "fillMode was 4, 0 (constant), 1 (reflect), 2 (wrap), 3 (nearest) are allowed"},
      // boxes
      {"NonMaxSuppressionV3", {{kF, {3}}, scores}, {1, 0.5, 0}, "boxes are [3], [n,4] is allowed"},
      {"NonMaxSuppressionV3",
       {boxes, {kF, {2}}},
       {1, 0.5, 0},
       "there are 3 boxes, and scores of [2]"},
      {"NonMaxSuppressionV3", {boxes, scores}, {-1, 0.5, 0}, "maxOutputSize was -1"},
      {"NonMaxSuppressionV4", {boxes, scores}, {1, 1.5, 0, 0}, "iouThreshold was 1.5, 0 to 1"},
      {"NonMaxSuppressionV5", {boxes, scores}, {1, 0.5, 0, 2}, "softNmsSigma was 2, 0 to 1"},
      // sparse
      {"SparseFillEmptyRows",
       {ints({1, 2}, {-1, 0}), {kF, {1}}, ints({2}, {5, 6}), scalar},
       {},
       "indices(0, 0) is invalid: -1 < 0"},
      {"SparseFillEmptyRows",
       {ints({1, 2}, {5, 0}), {kF, {1}}, ints({2}, {5, 6}), scalar},
       {},
       "indices(0, 0) is invalid: 5 >= 5"},
      {"SparseFillEmptyRows",
       {ints({1, 2}, {0, 0}), {kF, {1}}, ints({2}, {0, 6}), scalar},
       {},
       "denseShape[0] = 0 but indices.shape[0] = 1"},
      {"SparseFillEmptyRows",
       {ints({1, 2}, {0, 0}), {kF, {1}}, ints({2}, {-3, 6}), scalar},
       {},
       "denseShape[0] is -3"},
      {"SparseFillEmptyRows",
       {{kI, {1, 2}}, {kF, {2}}, {kI, {2}}, scalar},
       {},
       "there are 1 indices and 2 values"},
      {"SparseFillEmptyRows",
       {{kI, {1, 2}}, {kF, {1}}, {kI, {3}}, scalar},
       {},
       "dense shape of rank 3"},
      {"SparseFillEmptyRows",
       {{kI, {1, 2}}, {kF, {1}}, {kI, {2}}, {kI, {}}},
       {},
       "they must be alike"},
      {"SparseReshape",
       {{kI, {1, 2}}, ints({2}, {5, 6}), ints({3}, {-1, 2, -1})},
       {},
       "only one output dimension may be -1, not both 0 and 2"},
      {"SparseReshape",
       {{kI, {1, 2}}, ints({2}, {5, 6}), ints({2}, {7, -1})},
       {},
       "requires a multiple of 7"},
      {"SparseReshape",
       {{kI, {1, 2}}, ints({2}, {5, 6}), ints({2}, {5, -7})},
       {},
       "size 1 must be non-negative, not -7"},
      {"SparseReshape",
       {{kI, {0, 2}}, ints({2}, {5, 0}), ints({2}, {0, -1})},
       {},
       "unless all specified input sizes are non-zero"},
      {"SparseReshape",
       {{kI, {1, 2}}, ints({2}, {5, 6}), ints({2}, {3, 4})},
       {},
       "a tensor with 30 dense values, but the requested shape has 12"},
      {"SparseReshape",
       {ints({1, 2}, {5, 0}), ints({2}, {5, 6}), ints({1}, {30})},
       {},
       "indices(0, 0) is 5, 0 to 4 are allowed"},
      {"SparseReshape",
       {{kI, {0, 3}}, ints({3}, {2147483647, 2147483647, 2147483647}), ints({1}, {1})},
       {},
       "too many elements"},
      {"SparseSegmentSum", {scalar, {kI, {1}}, {kI, {1}}}, {}, "should be at least 1 dimensional"},
      {"SparseSegmentSum",
       {data, ints({2}, {0, -1}), ints({2}, {0, 0})},
       {},
       "indices[1] == -1 out of range [0, 10)"},
      {"SparseSegmentMean",
       {data, ints({1}, {10}), ints({1}, {0})},
       {},
       "indices[0] == 10 out of range"},
      {"SparseSegmentMean",
       {data, ints({4}, {0, 0, 0, 0}), ints({4}, {0, 1, 0, 2})},
       {},
       "segment ids are not increasing"},
      {"SparseSegmentMean",
       {data, ints({2}, {0, 0}), ints({2}, {-1, 1})},
       {},
       "Segment id -1 out of range [0, 2)"},
      {"SparseSegmentMean",
       {data, ints({2}, {0, 0}), ints({2}, {0, -1})},
       {},
       "segment ids must be >= 0"},
      {"SparseSegmentMean",
       {data, {kI, {2}}, {kI, {3}}},
       {},
       "there are 2 indices and 3 segment ids"},
      // ragged
      {"RaggedGather",
       {ints({3}, {0, 1, 2}), {kF, {2}}, ints({1}, {2})},
       {1},
       "indices[0] = 2 is not in [0, 2)"},
      {"RaggedGather",
       {ints({3}, {0, 2, 1}), {kF, {2}}, ints({1}, {0})},
       {1},
       "sorted in ascending order"},
      {"RaggedGather",
       {ints({3}, {0, 1, 3}), {kF, {2}}, ints({1}, {0})},
       {1},
       "must not point past values"},
      {"RaggedGather",
       {ints({2}, {0, 2}), ints({2}, {0, 1}), {kF, {1}}, ints({1}, {0})},
       {2},
       "must not point past values"},
      {"RaggedGather",
       {ints({2}, {-1, 1}), {kF, {2}}, ints({1}, {0})},
       {1},
       "must be non-negative"},
      {"RaggedGather", {{kI, {0}}, {kF, {2}}, {kI, {1}}}, {1}, "splits 0 are [0]"},
      {"RaggedGather", {{kI, {2}}, scalar, {kI, {1}}}, {1}, "params.rank must be nonzero"},
      {"RaggedGather",
       {{kI, {2}}, {kF, {2}}, {kI, {1}}},
       {2},
       "outputRaggedRank was 2, 1 is allowed"},
      {"RaggedRange", {{kI, {2, 1}}, {kI, {}}, {kI, {}}}, {}, "input 0 is [2,1]"},
      {"RaggedRange", {{kI, {2}}, {kI, {3}}, {kI, {}}}, {}, "must have the same shape: 2 and 3"},
      {"RaggedRange", {{kI, {}}, {kI, {}}, {kI, {}}}, {}, "Requires delta != 0"},
      {"RaggedRange", {{kI, {}}, {kF, {}}, {kI, {}}}, {}, "input 1 is float32, int32 as the first"},
      {"RaggedRange",
       {ints({2}, {0, 0}), ints({}, {2147483647}), ints({}, {1})},
       {},
       "at most 2^31 - 1 are allowed"},
      {"RaggedTensorToTensor",
       {ints({3}, {-1, -1, -1}), {kF, {2}}, scalar, ints({2}, {0, 2})},
       {1, 2},
       "they are incompatible"},
      {"RaggedTensorToTensor",
       {ints({2}, {-1, -1}), {kF, {2}}, {kF, {2}}, ints({2}, {0, 2})},
       {1, 2},
       "are incompatible"},
      {"RaggedTensorToTensor",
       {ints({2}, {-1, -1}), {kF, {2}}, scalar, ints({2}, {0, 2})},
       {1, 1},
       "row partition 0 is of type 1"},
      {"RaggedTensorToTensor",
       {ints({2}, {-1, -1}), {kF, {2}}, scalar, ints({2}, {0, 3})},
       {1, 2},
       "the row partitions have 3 values, 2 were given"},
      {"RaggedTensorToTensor",
       {ints({2}, {-1, -1}), {kF, {2}}, scalar, ints({3}, {0, 2, 1})},
       {1, 2},
       "Invalid row split size"},
      {"RaggedTensorToTensor",
       {ints({2}, {-1, 2}), {kF, {2}}, scalar, ints({}, {2}), ints({2}, {0, 2})},
       {2, 0, 1},
       "which is not less than 2"},
      {"RaggedTensorToTensor",
       {ints({2}, {-1, -2}), {kF, {2}}, scalar, ints({2}, {0, 2})},
       {1, 2},
       "Dimension -2 must be >= -1"},
      // optimizers
      {"AdamUpdate", {scalar, scalar}, adam, "2 inputs were given, at least 3 are allowed"},
      {"AdamUpdate",
       {scalar, scalar, data, data, data, data, data},
       adam,
       "7 inputs were given, 2 and 4 for each variable are allowed"},
      {"AdamUpdate",
       {scalar, scores, data, data, data, data},
       adam,
       "beta2 to the power of the step is [3], a scalar is allowed"},
      {"AdamUpdate",
       {scalar, scalar, data, data, data, {kI, {10, 2}}},
       adam,
       "input 5 has dtype int32, float32 is allowed"},
      {"AdamUpdate",
       {scalar, {DType::kFloat64, {}}, data, data, data, data},
       adam,
       "input 1 has dtype float64, float32 is allowed"},
      {"AdamUpdate",
       {scalar, scalar, data, data, data, data, scores, scores, {kF, {1, 3}}, scores},
       adam,
       "the second moment of variable 1 is [1,3], its value's [3] is allowed"},
      {"AdamUpdate",
       {scalar, scalar, data, data, data, scalar},
       adam,
       "the gradient of variable 0 is [], its value's [10,2] is allowed"},
      {"AdamUpdate",
       {scalar, scalar, data, data, data, data},
       {0.9, 0.999, 0.001},
       "attribute epsilon is missing"},
      {"SgdUpdate", {scores, data, data}, {}, "the negative rate is [3], a scalar is allowed"},
      {"SgdUpdate",
       {scalar, data, data, data},
       {},
       "4 inputs were given, 1 and 2 for each variable are allowed"},
      {"MomentumUpdate",
       {scalar, scores, data, data, data},
       {0},
       "the momentum is [3], a scalar is allowed"},
      {"MomentumUpdate",
       {scalar, scalar, data, scalar, data},
       {0},
       "the accumulation of variable 0 is [], its value's [10,2] is allowed"},
      {"AdagradUpdate",
       {data, data, {kI, {10, 2}}},
       {0.01, 1e-7},
       "input 2 has dtype int32, float32 is allowed"},
      {"AdagradUpdate",
       {data, scores, data},
       {0.01, 1e-7},
       "the sum of squares of variable 0 is [3], its value's [10,2] is allowed"},
      {"AdadeltaUpdate",
       {data, data, scores, data},
       {0.001, 0.95, 1e-7},
       "the mean of updates of variable 0 is [3], its value's [10,2] is allowed"},
      {"AdamaxUpdate",
       {scalar, scores, data, data, data, data},
       {0.9, 0.999, 0.002, 1e-7, 0},
       "the count of steps is [3], a scalar is allowed"},
      {"AdamaxUpdate",
       {scalar, scalar, data, data, scalar, data},
       {0.9, 0.999, 0.002, 1e-7, 0},
       "the norm of variable 0 is [], its value's [10,2] is allowed"},
      {"RmsPropUpdate",
       {data, data, data, data},
       {0.01, 0.9, 0, 1e-7, 1},
       "4 inputs were given, 0 and 5 for each variable are allowed"},
      {"RmsPropUpdate",
       {data, data, data, scores, data},
       {0.01, 0.9, 0, 1e-7, 1},
       "the mean of gradients of variable 0 is [3], its value's [10,2] is allowed"},
  };
}

TEST(OpRefusals, SayWhatWasGivenAndLeaveNothing) {
  OpWorld world;
  for (const Refusal& refusal : refusals()) {
    SCOPED_TRACE(refusal.op);
    std::vector<Handle> inputs;
    for (const Given& each : refusal.inputs) {
      inputs.push_back(world.make(each.dtype, each.shape));
      if (!each.values.empty()) {
        ops::write(world.context(), inputs.back(), std::as_bytes(std::span(each.values)));
      }
    }
    EXPECT_ERROR(world.run(refusal.op, inputs, refusal.attributes), kInvalidArgument,
                 fmt::format("[{}] ", refusal.op), refusal.says);
    EXPECT_EQ(world.live(), inputs.size());
    for (const Handle each : inputs) world.context().dispose(each);
    Context::audit();
  }
}

// Out of budget in each allocation of a call in turn: an error, and the books are as before.
TEST(OpRefusals, RunOutOfBudgetWithoutALeak) {
  struct Large {
    const char* op;
    std::vector<double> attributes;
    DType dtype;
    Shape shape;
  };
  const std::vector<Large> larges = {
      {"TopK", {1 << 18, 1}, kF, {1 << 18}},
      {"Unique", {0}, kF, {1 << 18}},
      {"FFT", {}, kC, {1 << 18}},
      {"ResizeBilinear", {2, 1024, 1024, 0, 0}, kF, {1, 16, 16, 2}},
      {"ResizeNearestNeighbor", {2, 1024, 1024, 0, 0}, kF, {1, 16, 16, 2}},
  };
  for (const Large& large : larges) {
    SCOPED_TRACE(large.op);
    std::size_t refused = 0;
    for (std::uint64_t budget = 2 << 20; budget < (32 << 20); budget += 2 << 20) {
      OpWorld world(budget);
      try {
        const Handle x = world.make(large.dtype, large.shape);
        world.run(large.op, {x}, large.attributes);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory) << error.what();
        EXPECT_LE(world.live(), 1u);
        ++refused;
      }
      Context::audit();
    }
    EXPECT_GT(refused, 0u);
  }
}

TEST(OpRefusals, DisposedOperandsAreNamed) {
  OpWorld world;
  const Handle x = world.make(kF, {4});
  world.context().dispose(x);
  EXPECT_ERROR(world.run("TopK", {x}, {1, 1}), kStaleHandle, "[TopK] ");
  EXPECT_EQ(world.live(), 0u);
}

}  // namespace
}  // namespace ebb::test
