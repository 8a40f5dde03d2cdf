// Extents that cannot be multiplied, counted or named: of tensors without elements, which have no
// memory and may have any, and of results whose positions do not fit. Such calls end at once, with
// the result or with an error.
#include <gtest/gtest.h>

#include "support/audited.hpp"
#include "support/cpu_time.hpp"
#include "support/expect_error.hpp"
#include "support/op_world.hpp"

namespace ebb::test {
namespace {

constexpr DType kF = DType::kFloat32, kI = DType::kInt32, kB = DType::kBool, kC = DType::kComplex64;
constexpr std::int64_t kHuge = std::int64_t{1} << 40, kMost = std::int64_t{1} << 62;

struct Given {
  DType dtype;
  Shape shape;
};

struct Call {
  const char* op;
  std::vector<Given> inputs;
  std::vector<double> attributes;
  std::vector<Shape> results;
};

std::vector<Call> calls_on_nothing() {
  const Given images{kF, {kHuge, 4, 4, 0}}, tall{kF, {1, kHuge, 4, 0}};
  const Shape flat{kHuge, 0}, steep{0, kMost, kMost};
  return {
      {"Cumsum", {{kF, flat}}, {0, 0, 0}, {flat}},
      {"Cumprod", {{kF, {kMost, kMost, 0}}}, {2, 0, 0}, {{kMost, kMost, 0}}},
      {"GatherV2", {{kF, {kHuge, 3, 0}}, {kI, {2}}}, {1, 0}, {{kHuge, 2, 0}}},
      {"GatherNd", {{kF, {0}}, {kI, {kHuge, 0}}}, {}, {{kHuge, 0}}},
      {"GatherNd", {{kF, steep}, {kI, {0, 1}}}, {}, {steep}},
      {"GatherNd", {{kF, {5, kMost, kMost, 0}}, {kI, {1, 3}}}, {}, {{1, 0}}},
      {"MaxPool",
       {tall},
       {2, 1, 1, 2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1, 2, 0x1p31 - 1, 4},
       {{1, 0x7fffffff, 4, 0}}},
      {"ResizeNearestNeighbor", {images}, {2, 0x1p40, 3, 0, 0}, {{kHuge, kHuge, 3, 0}}},
      {"ResizeBilinear", {images}, {2, 0x1p40, 3, 0, 0}, {{kHuge, kHuge, 3, 0}}},
      {"ResizeBilinearGrad", {{kF, {1, 2, 2, 1}}, {kF, {1, kHuge, 0, 1}}}, {0}, {{1, 2, 2, 1}}},
      {"ResizeNearestNeighborGrad",
       {{kF, {1, 2, 2, 1}}, {kF, {1, kHuge, 0, 1}}},
       {0},
       {{1, 2, 2, 1}}},
      {"CropAndResize",
       {images, {kF, {0, 4}}, {kI, {0}}},
       {2, 0x1p40, 0x1p40, 1, 0},
       {{0, kHuge, kHuge, 0}}},
      {"Transform", {images, {kF, {1, 8}}}, {0, 0, 0, 0}, {images.shape}},
      {"RotateWithOffset", {images}, {1, 1, 0, 1, 0.5}, {images.shape}},
      {"MaxPoolGrad",
       {{kF, {1, kHuge, 0, 1}}, {kF, {1, 2, 2, 1}}, {kF, {1, kHuge, 0, 1}}},
       {2, 1, 1, 2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1},
       {{1, 2, 2, 1}}},
      {"Dilation2DBackpropFilter",
       {{kF, {kHuge, 0, 2, 1}}, {kF, {1, 1, 1}}, {kF, {kHuge, 0, 2, 1}}},
       {2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1},
       {{1, 1, 1}}},
      {"Unique", {{kF, {4, kMost, kMost, 0}}}, {0}, {{1, kMost, kMost, 0}, {4}}},
      {"Unique", {{kF, {kHuge, 0}}}, {1}, {{kHuge, 0}, {0}}},
      {"SparseReshape", {{kI, {kHuge, 0}}, {kI, {0}}, {kI, {0}}}, {}, {{kHuge, 0}, {0}}},
      {"MatrixBandPart", {{kF, {kHuge, 3, 0}}, {kI, {}}, {kI, {}}}, {}, {{kHuge, 3, 0}}},
      {"TopK", {{kF, {kHuge, 0}}}, {0, 1}, {flat, flat}},
      {"FFT", {{kC, flat}}, {}, {flat}},
      {"Softmax", {{kF, flat}}, {1}, {flat}},
      {"Slice", {{kF, steep}}, {3, 0, 0x1p53, 0x1p53, 3, 0, 5, 5}, {{0, 5, 5}}},
      {"StridedSlice",
       {{kF, steep}},
       {3, 0, 0x1p53, 0, 3, 1, 0x1p53, -0x1p53, 3, 0, 2, 1},
       {{0, 2, 1}}},
      {"Transpose", {{kF, steep}}, {3, 1, 2, 0}, {{kMost, kMost, 0}}},
      {"Reverse", {{kF, steep}}, {3, 0, 1, 2}, {steep}},
      {"Tile", {{kF, steep}}, {3, 0x1p53, 1, 1}, {steep}},
      {"PadV2", {{kF, steep}}, {6, 0, 0, 0x1p53, 0, 0, 0, 1}, {{0, kMost + (1LL << 53), kMost}}},
      {"Diag", {{kF, steep}}, {}, {{0, kMost, kMost, 0, kMost, kMost}}},
      {"Real", {{kC, steep}}, {}, {steep}},
      {"Concat", {{kF, {0, kMost}}, {kF, {0, 3}}}, {1}, {{0, kMost + 3}}},
      {"Sum", {{kF, steep}}, {3, 0, 1, 2, 0}, {{}}},
      {"Sum", {{kF, {2, kMost, kMost, 0}}}, {3, 1, 2, 3, 0}, {{2}}},
      {"Add", {{kF, steep}, {kF, {1, 1}}}, {}, {steep}},
      {"Where", {{kB, steep}}, {}, {{0, 3}}},
      {"ArgMax", {{kF, {kMost, 0}}}, {0}, {{0}}},
  };
}

TEST(OpExtremes, TensorsWithoutElementsTakeNoTime) {
  OpWorld world;
  for (const Call& call : calls_on_nothing()) {
    SCOPED_TRACE(call.op);
    std::vector<Handle> inputs;
    for (const Given& each : call.inputs) inputs.push_back(world.make(each.dtype, each.shape));
    std::vector<ops::OpResult> results;
    const CpuTime spent;
    EXPECT_NO_THROW(results = world.run(call.op, inputs, call.attributes));
    EXPECT_LT(spent.ms(), kMostMsOfASmallCall);
    std::vector<Shape> shapes;
    for (const ops::OpResult& each : results) {
      shapes.push_back(each.shape);
      world.context().dispose(each.handle);
    }
    EXPECT_EQ(shapes, call.results);
    for (const Handle each : inputs) world.context().dispose(each);
    Context::audit();
  }
}

struct Refusal {
  const char* op;
  std::vector<Given> inputs;
  std::vector<double> attributes;
  const char* says;
};

// Nothing of it is written: the tensors are address space.
std::vector<Refusal> results_without_a_name() {
  constexpr std::int64_t kLong = (std::int64_t{1} << 31) + 10;
  const Given row{kB, {kLong}};
  return {
      {"ArgMax", {row}, {0}, "an extent of 2147483658 was given, positions are int32"},
      {"ArgMin", {row}, {0}, "an extent of 2147483658 was given"},
      {"Where", {row}, {}, "an extent of 2147483658 was given"},
      {"TopK", {row}, {1, 1}, "an extent of 2147483658 was given"},
      {"SearchSorted", {{kB, {1, kLong}}, {kB, {1, 1}}}, {0}, "an extent of 2147483659"},
      {"Unpack", {{kF, {3000000, 0}}}, {0}, "it has 3000000 results, there is room for 16"},
      {"Unpack", {{kF, {kMost, 0}}}, {0}, "it has 4611686018427387904 results"},
      {"RaggedGather",
       {{kI, {2}}, {kF, {1}}, {kI, {kHuge, 0}}},
       {2},
       "the result has 1099511627776 values, at most 2^31 - 1 are allowed"},
  };
}

TEST(OpExtremes, ResultsThatCannotBeNamedAreRefusedBeforeAnyIsMade) {
  OpWorld world;
  for (const Refusal& refusal : results_without_a_name()) {
    SCOPED_TRACE(refusal.op);
    std::vector<Handle> inputs;
    for (const Given& each : refusal.inputs) {
      inputs.push_back(world.context().make(
          {.device = &world.device(), .dtype = each.dtype, .shape = each.shape}));
    }
    const std::uint64_t made = world.context().memory().books.created;
    const CpuTime spent;
    EXPECT_ERROR(world.run(refusal.op, inputs, refusal.attributes), kInvalidArgument, refusal.says);
    EXPECT_LT(spent.ms(), kMostMsOfASmallCall);
    EXPECT_EQ(world.context().memory().books.created, made);
    EXPECT_EQ(world.live(), inputs.size());
    for (const Handle each : inputs) world.context().dispose(each);
    Context::audit();
  }
}

}  // namespace
}  // namespace ebb::test
