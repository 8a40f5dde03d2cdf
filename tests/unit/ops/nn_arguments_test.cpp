// What products, convolutions, poolings and normalisations say of arguments that they do not take:
// `[Op] what was given, what is allowed`, and nothing stays behind.
#include <vector>

#include "ebb/ops/run.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/hosts.hpp"

namespace ebb::ops {
namespace {

class NnArguments : public testing::Test {
 protected:
  test::OpenDevice cpu{{.name = "arguments"}};
  ContextPtr context = Context::create({.name = "arguments"});

  Handle tensor(Shape shape, DType dtype = DType::kFloat32) {
    return context->make({.device = cpu.get(), .dtype = dtype, .shape = shape});
  }
  void run(std::string_view op, std::vector<Handle> inputs, std::vector<double> attributes) {
    OpResult result[2];
    const std::uint64_t before = context->memory().books.live;
    try {
      ops::run({*context, *cpu}, find_op(op)->id, inputs, attributes, result);
    } catch (...) {
      EXPECT_EQ(context->memory().books.live, before) << op << " left a tensor behind";
      throw;
    }
  }
};

TEST_F(NnArguments, OfProducts) {
  const Handle a = tensor({2, 3}), b = tensor({4, 5}), row = tensor({3});
  EXPECT_ERROR(run("BatchMatMul", {a, b}, {0, 0}), kInvalidArgument, "[BatchMatMul]", "[2,3]",
               "[4,5]", "3 and 4");
  EXPECT_ERROR(run("BatchMatMul", {row, a}, {0, 0}), kInvalidArgument, "[BatchMatMul]", "[3]",
               "rank 2");
  const Handle whole = tensor({3, 2}, DType::kInt32), flags = tensor({2, 3}, DType::kBool);
  EXPECT_ERROR(run("BatchMatMul", {a, whole}, {0, 0}), kInvalidArgument, "int32", "float32");
  EXPECT_ERROR(run("BatchMatMul", {flags, a}, {0, 0}), kInvalidArgument, "bool", "float32");
  EXPECT_ERROR(run("BatchMatMul", {tensor({2, 2, 3}), tensor({3, 3, 4})}, {0, 0}), kInvalidArgument,
               "[BatchMatMul]", "broadcast");
  EXPECT_ERROR(run("BatchMatMul", {a}, {0, 0}), kInvalidArgument, "[BatchMatMul]");
}

TEST_F(NnArguments, OfFusedProducts) {
  const Handle a = tensor({2, 3}), b = tensor({3, 5});
  EXPECT_ERROR(run("_FusedMatMul", {a, b, tensor({4})}, {0, 0, 0, 0}), kInvalidArgument,
               "[_FusedMatMul]", "input 2", "[4]", "[2,5]");
  EXPECT_ERROR(run("_FusedMatMul", {a, b}, {0, 0, 7, 0}), kInvalidArgument, "activation 7",
               "0 to 6");
  EXPECT_ERROR(run("_FusedMatMul", {a, b}, {0, 0, 4, 0}), kInvalidArgument, "prelu", "weights");
  EXPECT_ERROR(run("_FusedMatMul", {a, b, tensor({5}, DType::kInt32)}, {0, 0, 0, 0}),
               kInvalidArgument, "int32", "float32");
}

const std::vector<double> kConv{2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1, 2, 3, 3, 0};

std::vector<double> conv_with(std::size_t at, double value) {
  std::vector<double> attributes = kConv;
  attributes[at] = value;
  return attributes;
}

TEST_F(NnArguments, OfConvolutions) {
  const Handle x = tensor({1, 4, 4, 3}), w = tensor({2, 2, 3, 5});
  EXPECT_ERROR(run("Conv2D", {tensor({4, 4, 3}), w}, kConv), kInvalidArgument, "[Conv2D]",
               "[4,4,3]", "rank 4");
  EXPECT_ERROR(run("Conv2D", {x, tensor({2, 2, 3})}, kConv), kInvalidArgument, "[2,2,3]", "rank 4");
  EXPECT_ERROR(run("Conv2D", {x, tensor({2, 2, 4, 5})}, kConv), kInvalidArgument, "[2,2,4,5]",
               "3 channels");
  EXPECT_ERROR(run("Conv2D", {x, tensor({0, 2, 3, 5})}, kConv), kInvalidArgument, "[0,2,3,5]");
  EXPECT_ERROR(run("Conv2D", {tensor({1, 4, 4, 3}, DType::kInt32), w}, kConv), kInvalidArgument,
               "int32", "float32");
  EXPECT_ERROR(run("Conv2D", {x, w}, conv_with(1, 0)), kInvalidArgument, "strides", "1 or more");
  EXPECT_ERROR(run("Conv2D", {x, w}, conv_with(4, -1)), kInvalidArgument, "pads", "0 or more");
  EXPECT_ERROR(run("Conv2D", {x, w}, conv_with(9, 0)), kInvalidArgument, "dilations", "1 or more");
  EXPECT_ERROR(run("Conv2D", {x, w}, conv_with(12, -3)), kInvalidArgument, "outputSize",
               "0 or more");
  EXPECT_ERROR(run("Conv2D", {x, w}, {1, 1, 4, 0, 0, 0, 0, 2, 1, 1, 2, 3, 3, 0}), kInvalidArgument,
               "strides", "2 numbers");
  EXPECT_ERROR(run("Conv2D", {x, w}, {2, 1, 1, 2, 0, 0, 2, 1, 1, 2, 3, 3, 0}), kInvalidArgument,
               "pads", "4 numbers");
}

TEST_F(NnArguments, OfGradientsOfConvolutions) {
  const Handle x = tensor({1, 4, 4, 3}), w = tensor({2, 2, 3, 5}), dy = tensor({1, 3, 3, 4});
  EXPECT_ERROR(
      run("Conv2DBackpropInput", {dy, w}, {2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1, 0, 4, 1, 4, 4, 3}),
      kInvalidArgument, "[Conv2DBackpropInput]", "[1,3,3,4]", "5 channels");
  EXPECT_ERROR(
      run("Conv2DBackpropInput", {dy, w}, {2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1, 0, 3, 4, 4, 3}),
      kInvalidArgument, "inputShape", "rank 4");
  EXPECT_ERROR(run("Conv2DBackpropFilter", {x, tensor({2, 3, 3, 5})},
                   {2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1, 0, 4, 2, 2, 3, 5}),
               kInvalidArgument, "[Conv2DBackpropFilter]", "[2,3,3,5]", "batch 1");
  EXPECT_ERROR(
      run("Conv2DBackpropFilter", {x, dy}, {2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1, 0, 4, 2, 2, -3, 5}),
      kInvalidArgument, "at least 0");
}

TEST_F(NnArguments, OfPoolings) {
  const Handle x = tensor({1, 4, 4, 3});
  const std::vector<double> window{2, 2, 2, 2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1};
  std::vector<double> forward = window;
  forward.insert(forward.end(), {2, 3, 3});
  EXPECT_ERROR(run("MaxPool", {tensor({4, 4, 3})}, forward), kInvalidArgument, "[MaxPool]",
               "rank 4");
  EXPECT_ERROR(run("MaxPool", {tensor({1, 4, 4, 3}, DType::kBool)}, forward), kInvalidArgument,
               "bool", "float32 or int32");
  EXPECT_ERROR(run("AvgPool", {tensor({1, 4, 4, 3}, DType::kInt32)}, forward), kInvalidArgument,
               "int32", "float32");
  EXPECT_ERROR(run("MaxPool3D", {x}, forward), kInvalidArgument, "[MaxPool3D]", "3 numbers");
  EXPECT_ERROR(run("MaxPoolGrad", {tensor({1, 3, 3, 4}), x}, window), kInvalidArgument,
               "[MaxPoolGrad]", "3 channels");
  EXPECT_ERROR(
      run("Dilation2D", {x, tensor({2, 2, 4})}, {2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1, 2, 3, 3}),
      kInvalidArgument, "[Dilation2D]", "[2,2,4]", "3");
}

TEST_F(NnArguments, OfNormalisations) {
  const Handle x = tensor({1, 4, 4, 3});
  EXPECT_ERROR(run("FusedBatchNorm", {x, tensor({5}), tensor({3})}, {0.1}), kInvalidArgument,
               "[FusedBatchNorm]", "mean", "[5]", "[1,4,4,3]");
  EXPECT_ERROR(run("LRN", {tensor({4, 4, 3})}, {5, 1, 1, 0.5}), kInvalidArgument, "[LRN]",
               "rank 4");
  EXPECT_ERROR(run("LRN", {x}, {-1, 1, 1, 0.5}), kInvalidArgument, "depthRadius", "0 or more");
  EXPECT_ERROR(run("Softmax", {x}, {1}), kInvalidArgument, "[Softmax]", "axis 1", "last");
  EXPECT_ERROR(run("Softmax", {x}, {4}), kInvalidArgument, "axis 4");
  EXPECT_ERROR(run("LogSoftmax", {tensor({})}, {-1}), kInvalidArgument, "[LogSoftmax]", "scalar");
}

TEST_F(NnArguments, AStaleOperandIsNamed) {
  const Handle a = tensor({2, 3}), b = tensor({3, 4});
  context->dispose(b);
  EXPECT_ERROR(run("BatchMatMul", {a, b}, {0, 0}), kStaleHandle, "[BatchMatMul]");
}

}  // namespace
}  // namespace ebb::ops
