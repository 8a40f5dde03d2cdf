// What operations say of bad input, and that they leave nothing behind. Sorting, images, signals,
// sparse and ragged ones are in ops_refusals.cpp.
#include <gtest/gtest.h>

#include "ebb/ops/run.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/hosts.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

struct Given {
  DType dtype;
  std::vector<std::int64_t> dims;
  std::vector<std::int32_t> values{};  // int32 only; otherwise zeros
};

struct BadCall {
  std::string op;
  std::vector<Given> inputs;
  std::vector<double> attributes;
  std::string says;
};

constexpr DType kF = DType::kFloat32, kI = DType::kInt32, kB = DType::kBool, kC = DType::kComplex64;

const std::vector<BadCall>& bad_calls() {
  static const std::vector<BadCall> calls{
      {"Add", {{kF, {2, 3}}, {kF, {2, 4}}}, {}, "shapes [2,3] and [2,4]"},
      {"Maximum", {{kC, {2}}, {kC, {2}}}, {}, "complex64"},
      {"Relu", {{kC, {2}}}, {}, "complex64"},
      {"ComplexAbs", {{kF, {2}}}, {}, "complex64 is allowed"},
      {"AddN", {{kF, {2}}, {kF, {3}}}, {}, "input 1 is float32 [3]"},
      {"Select", {{kB, {3}}, {kF, {2, 2}}, {kF, {2, 2}}}, {}, "the condition is [3]"},
      {"Select", {{kB, {2}}, {kF, {2}}, {kF, {3}}}, {}, "t is [2] and e is [3]"},
      {"BitwiseAnd", {{kF, {2}}, {kF, {2}}}, {}, "an integer one"},
      {"Slice", {{kF, {4}}}, {1, 2, 1, 3}, "begin 2 and size 3"},
      {"Slice", {{kF, {4}}}, {2, 0, 0, 2, 1, 1}, "begin has 2 values"},
      {"StridedSlice", {{kF, {4}}}, {1, 1, 1, 2, 1, 3}, "leaves its extent of 4"},
      // (size - 1) * stride is 2^64: it must not wrap around to a place within the extent
      {"StridedSlice", {{kF, {4}}}, {1, 1, 1, 0x1p52, 1, 4097}, "leaves its extent of 4"},
      {"Transpose", {{kF, {2, 3}}}, {2, 0, 0}, "twice"},
      {"Transpose", {{kF, {2, 3}}}, {1, 0}, "perm has 1 values"},
      {"Reverse", {{kF, {2, 3}}}, {1, 2}, "axis 2 was given, -2 to 1"},
      {"FlipLeftRight", {{kF, {2, 3}}}, {}, "rank 2 was given, 4"},
      {"Tile", {{kF, {2}}}, {1, -1}, "reps [-1]"},
      {"Tile", {{kF, {2048}}}, {1, 0x1p53}, "2048 * 9007199254740992 was given"},
      // 4096 * (2^52 + 1) is 2^64 + 4096: it must not wrap around to a small result
      {"Tile", {{DType::kUint8, {4096}}}, {1, 0x1p52 + 1}, "4096 * 4503599627370497 was given"},
      {"Tile", {{kF, {2, 3}}}, {2, 0x1p40, 0x1p40}, "is too large"},
      {"BroadcastTo", {{kF, {2}}}, {1, 3}, "do not broadcast"},
      {"PadV2", {{kF, {2}}}, {2, -1, 0, 0}, "paddings [-1,0]"},
      {"MirrorPad", {{kF, {2}}}, {2, 2, 0, 0}, "0 to 1 are allowed"},
      {"MirrorPad", {{kF, {2}}}, {2, 1, 0, 2}, "mode was 2, 0 (reflect), 1 (symmetric)"},
      {"Concat", {{kF, {2, 3}}, {kF, {2, 3, 1}}}, {0}, "input 1 is [2,3,1]"},
      {"Concat", {{kF, {2, 3}}, {kI, {2, 3}}}, {0}, "input 1 is int32"},
      {"Pack",
       {{kF, {2}}, {kF, {3}}},
       {0},
       "input 1 is [3], the first is [2]: shapes must be alike"},
      {"Pack", {{kF, {2}}, {kI, {2}}}, {0}, "input 1 is int32, the first is float32: dtypes must"},
      {"SplitV", {{kF, {4}}}, {2, 1, 2, 0}, "sizes of 3 together"},
      {"BatchToSpaceND", {{kF, {3, 2, 2, 1}}}, {2, 2, 2, 4, 0, 0, 0, 0}, "a multiple of 4"},
      {"BatchToSpaceND", {{kF, {1, 2, 2, 1}}}, {2, 0x1p32, 0x1p32, 4, 0, 0, 0, 0}, "at most"},
      {"SpaceToBatchND", {{kF, {1, 3, 2, 1}}}, {2, 2, 2, 4, 0, 0, 0, 0}, "a multiple of 2"},
      {"DepthToSpace", {{kF, {1, 2, 2, 3}}}, {2, 0}, "a depth of 3"},
      {"DepthToSpace", {{kF, {1, 2, 2, 3}}}, {0x1p32, 0}, "a depth of 3"},  // squared it is 0
      {"GatherV2", {{kF, {3}}, {kI, {1}, {3}}}, {0, 0}, "the index value 3 is not in [0, 2]"},
      {"GatherV2", {{kF, {3}}, {kI, {1}, {-1}}}, {0, 0}, "the index value -1"},
      {"GatherNd", {{kF, {3}}, {kI, {1, 1}, {5}}}, {}, "Invalid indices: 5"},
      {"GatherNd", {{kF, {3}}, {kI, {1, 2}}}, {}, "2 coordinates"},
      {"ScatterNd", {{kI, {1, 1}, {9}}, {kF, {1}}}, {1, 4}, "Invalid indices: 9"},
      {"ScatterNd", {{kI, {2, 1}}, {kF, {3}}}, {1, 4}, "updates [3]"},
      {"ScatterNd", {{kI, {1, 1}}, {kF, {1}}}, {1, -4}, "extents of at least 0"},
      {"Sum", {{kF, {2, 3}}}, {1, 2, 0}, "axis 2 was given"},
      {"Max", {{kC, {2}}}, {1, 0, 0}, "complex64"},
      {"ArgMax", {{kF, {0, 2}}}, {0}, "has no elements"},
      {"Cumsum", {{kF, {2}}}, {-2, 0, 0}, "axis -2"},
      {"Bincount", {{kI, {2}, {1, -1}}, {kF, {0}}}, {4}, "-1 was given, at least 0"},
      {"Bincount", {{kI, {2, 2}}, {kF, {0}}}, {4}, "rank 2 was given"},
      {"UnsortedSegmentSum", {{kF, {3, 2}}, {kI, {2}}}, {4}, "segment ids are [2]"},
      {"Fill", {}, {1, -1, 0, 1}, "extents of at least 0"},
      {"LinSpace", {}, {0, 1, 0}, "num 0"},
      {"Range", {}, {0, 1, 0, 1}, "step 0"},
      {"OneHot", {{kI, {2}}}, {-1, 1, 0, 1}, "depth -1"},
      {"Multinomial", {{kF, {3}}}, {2, 1, 0}, "logits [3]"},
  };
  return calls;
}

class OpErrors : public testing::Test {
 protected:
  Handle make(const Given& given) {
    const Handle made =
        context_->make({.device = cpu_.get(), .dtype = given.dtype, .shape = Shape(given.dims)});
    std::vector<std::byte> bytes(bytes_of(Shape(given.dims), size_of(given.dtype)));
    const auto values = std::as_bytes(std::span(given.values));
    std::copy(values.begin(), values.end(), bytes.begin());
    ops::write(*context_, made, bytes);
    return made;
  }

  OpenDevice cpu_{device_options("op errors")};
  ContextPtr context_ = Context::create({.name = "op errors"});
};

TEST_F(OpErrors, SayWhatWasGivenAndLeaveNothing) {
  for (const BadCall& bad : bad_calls()) {
    SCOPED_TRACE(bad.op + ": " + bad.says);
    std::vector<Handle> inputs;
    for (const Given& each : bad.inputs) inputs.push_back(make(each));
    std::array<ops::OpResult, 8> results;
    EXPECT_ERROR(
        ops::run({*context_, *cpu_}, ops::find_op(bad.op)->id, inputs, bad.attributes, results),
        kInvalidArgument, "[" + bad.op + "]", bad.says);
    EXPECT_EQ(context_->memory().books.live, inputs.size());
    EXPECT_EQ(context_->memory().books.held.count, 0u);
    for (const Handle each : inputs) context_->dispose(each);
    Context::audit();
  }
}

TEST_F(OpErrors, OutOfBudgetIsOutOfMemory) {
  const Handle x = make({kF, {1 << 20}});
  cpu_->set_budget(6 << 20, BudgetMode::kHard);
  ops::OpResult result;
  EXPECT_ERROR(ops::run({*context_, *cpu_}, ops::op_id("Relu"), {{x}}, {}, {&result, 1}),
               kOutOfMemory, cpu_->name());
  EXPECT_EQ(context_->memory().books.live, 1u);
  cpu_->set_budget(0, BudgetMode::kHard);
  ops::run({*context_, *cpu_}, ops::op_id("Relu"), {{x}}, {}, {&result, 1});
  context_->dispose(x);
  context_->dispose(result.handle);
}

}  // namespace
}  // namespace ebb::test
