// What the gradients are tried with: each row that has one, broadcasting, empty tensors, zeros where
// formulas divide.
#include "conformance/grad_case.hpp"

namespace ebb::test {
namespace {

void add_elementwise(std::vector<GradCase>& all) {
  for (const char* op : {"Abs", "Asinh", "Atan", "Cos", "Cosh", "Elu", "Erf", "Exp", "Expm1", "Neg",
                         "Relu", "Selu", "Sigmoid", "Sin", "Sinh", "Softplus", "Square", "Tanh"}) {
    all.push_back({op, {f({2, 3})}});
    all.push_back({op, {f({})}});
    all.push_back({op, {f({2, 0, 3})}});
  }
  for (const char* op : {"Acos", "Asin", "Atanh", "Tan"}) all.push_back({op, {f({5}, -0.8, 0.8)}});
  for (const char* op : {"Log", "Log1p", "Reciprocal", "Rsqrt", "Sqrt"}) {
    all.push_back({op, {f({5}, 0.5, 3)}});
  }
  all.push_back({"Acosh", {f({5}, 1.5, 4)}});
  all.push_back({"Relu6", {f({9}, -3, 9)}});
  all.push_back({"ClipByValue", {f({3, 4})}, {-0.7, 0.9}});
  all.push_back({"LeakyRelu", {f({3, 4})}, {0.3}});
  all.push_back({"Cast", {f({3})}, {static_cast<double>(DType::kFloat64)}});
  all.push_back({"ComplexAbs", {c({4})}});
  all.push_back({"Complex", {f({4}), f({4})}});
  for (const char* op : {"Add", "Sub", "Multiply", "RealDiv", "Atan2", "Maximum", "Minimum",
                         "SquaredDifference", "Prelu", "Mod"}) {
    all.push_back({op, {f({2, 3}), f({2, 3}, 0.5, 2)}});
    all.push_back({op, {f({4, 1, 3}), f({2, 1}, 0.5, 2)}});
    all.push_back({op, {f({}), f({3}, 0.5, 2)}});
    all.push_back({op, {f({0, 3}), f({3}, 0.5, 2)}});
  }
  for (const char* op : {"Add", "Sub", "Multiply"}) all.push_back({op, {c({2, 3}), c({3})}});
  all.push_back({"Pow", {f({2, 3}, 0.5, 3), f({3})}});
  all.push_back({"Pow", {f({4}, -3, -0.5), ints({4}, {2, 3, 0, 1})}});
  all.push_back({"AddN", {f({2, 2}), f({2, 2}), f({2, 2})}});
  all.push_back({"EluGrad", {f({2, 3}), f({2, 3}, -0.9, 2)}});
  all.push_back({"Select", {bools({2, 2}, {1, 0, 0, 1}), f({2, 2}), f({2, 2})}});
  all.push_back({"Select", {bools({2}, {1, 0}), f({2, 3}), f({2, 3})}});
}

void add_movement(std::vector<GradCase>& all) {
  all.push_back({"Identity", {f({2, 3})}});
  all.push_back({"Reshape", {f({2, 3})}, {2, 3, 2}});
  all.push_back({"ExpandDims", {f({2, 3})}, {1}});
  all.push_back({"Slice", {f({4, 5})}, {2, 1, 2, 2, 2, -1}});
  all.push_back({"Transpose", {f({2, 3, 4})}, {3, 2, 0, 1}});
  all.push_back({"Real", {c({3})}});
  all.push_back({"Imag", {c({3})}});
  all.push_back({"BatchToSpaceND", {f({4, 2, 2, 1})}, {2, 2, 2, 4, 0, 1, 1, 0}});
  all.push_back({"SpaceToBatchND", {f({1, 3, 3, 1})}, {2, 2, 2, 4, 0, 1, 1, 0}});
  all.push_back({"BroadcastTo", {f({3, 1})}, {3, 2, 3, 4}});
  all.push_back({"Concat", {f({2, 1}), f({2, 3}), f({2, 0})}, {-1}});
  all.push_back({"DepthToSpace", {f({1, 2, 3, 8})}, {2, 0}});
  all.push_back({"DepthToSpace", {f({1, 8, 2, 3})}, {2, 1}});
  all.push_back({"Diag", {f({3})}});
  all.push_back({"Diag", {f({2, 2})}});
  all.push_back({"MatrixBandPart", {f({3, 4}), ints({}, {1}), ints({}, {1})}});
  all.push_back({"MirrorPad", {f({3, 4})}, {4, 1, 2, 3, 0, 0}});
  all.push_back({"MirrorPad", {f({3, 4})}, {4, 3, 1, 0, 2, 1}});
  all.push_back({"Pack", {f({2, 3}), f({2, 3})}, {1}});
  all.push_back({"PadV2", {f({2, 3})}, {4, 1, 2, 0, 3, 7}});
  all.push_back({"Reverse", {f({2, 3})}, {1, 1}});
  all.push_back({"SplitV", {f({6, 2})}, {3, 1, 2, 3, 0}});
  all.push_back({"StridedSlice", {f({7, 5})}, {2, 1, 4, 2, 2, -2, 2, 3, 2}});
  all.push_back({"StridedSlice", {f({7, 5})}, {2, 6, 0, 2, -3, 1, 2, 2, 5}});
  all.push_back({"StridedSlice", {f({4})}, {1, 0, 1, 1, 1, 0}});
  all.push_back({"Tile", {f({2, 3})}, {2, 3, 2}});
  all.push_back({"Tile", {f({2, 3})}, {2, 0, 2}});
  all.push_back({"Unpack", {f({2, 3})}, {1}});
}

void add_indexing(std::vector<GradCase>& all) {
  all.push_back({"GatherV2", {f({4, 3}), ints({5}, {0, 2, 2, 3, 0})}, {0, 0}});
  all.push_back({"GatherV2", {f({2, 4, 3}), ints({2, 2}, {0, 2, 2, 3})}, {1, 0}});
  all.push_back({"GatherV2", {f({2, 3, 4}), ints({2, 2}, {0, 2, 3, 3})}, {2, 1}});
  all.push_back({"GatherV2", {f({4, 3}), ints({0}, {})}, {0, 0}});
  all.push_back({"GatherNd", {f({3, 4}), ints({3, 2}, {0, 1, 2, 3, 0, 1})}});
  all.push_back({"GatherNd", {f({3, 4}), ints({2, 1}, {2, 2})}});
  all.push_back({"ScatterNd", {ints({3, 1}, {4, 1, 4}), f({3, 2})}, {2, 5, 2}});
  all.push_back({"TensorScatterUpdate", {f({5, 2}), ints({2, 1}, {4, 1}), f({2, 2})}});
  all.push_back({"SparseToDense", {ints({2, 2}, {0, 1, 2, 0}), f({2}), f({})}, {2, 3, 2}});
  all.push_back({"SparseToDense", {ints({2}, {3, 1}), f({}), f({})}, {1, 5}});
}

void add_reductions(std::vector<GradCase>& all) {
  for (const char* op : {"Max", "Mean", "Min", "Prod", "Sum"}) {
    all.push_back({op, {f({2, 3, 4})}, {2, 0, -1, 0}});
    all.push_back({op, {f({2, 3})}, {1, 1, 1}});
    all.push_back({op, {f({})}, {0, 0}});
  }
  all.push_back({"Sum", {f({0, 3})}, {1, 0, 0}});
  all.push_back({"Prod", {values({2, 3}, {0, 2, 3, 0, 0, 5})}, {1, 1, 0}});
  for (const double exclusive : {0, 1}) {
    for (const double reverse : {0, 1}) {
      all.push_back({"Cumsum", {f({2, 3})}, {1, exclusive, reverse}});
      all.push_back({"Cumprod", {f({2, 3, 2})}, {1, exclusive, reverse}});
      all.push_back({"Cumprod", {values({4}, {2, 0, 3, 0})}, {0, exclusive, reverse}});
    }
  }
  all.push_back({"Bincount", {ints({4}, {0, 2, 2, 7}), f({4})}, {3}});
  all.push_back({"DenseBincount", {ints({2, 3}, {0, 2, 2, 1, 1, 9}), f({2, 3})}, {3, 0}});
  all.push_back({"DenseBincount", {ints({2, 2}, {0, 2, 2, 1}), f({2, 2})}, {3, 1}});
  all.push_back({"UnsortedSegmentSum", {f({4, 2}), ints({4}, {2, 0, 2, -1})}, {3}});
  all.push_back({"TopK", {f({3, 5})}, {2, 1}});
  all.push_back({"FFT", {c({2, 5})}});
  all.push_back({"IFFT", {c({2, 4})}});
  all.push_back(
      {"SparseFillEmptyRows", {ints({2, 2}, {0, 1, 2, 0}), f({2}), ints({2}, {4, 2}), f({})}});
  const Given indices = ints({4}, {0, 2, 2, 1}), segments = ints({4}, {0, 0, 1, 2});
  all.push_back({"SparseSegmentSum", {f({3, 2}), indices, segments}});
  all.push_back({"SparseSegmentMean", {f({3, 2}), indices, segments}});
}

void add_products(std::vector<GradCase>& all) {
  for (const double a : {0, 1}) {
    for (const double b : {0, 1}) {
      const Given left = a == 0 ? f({2, 3}) : f({3, 2}), right = b == 0 ? f({3, 4}) : f({4, 3});
      all.push_back({"BatchMatMul", {left, right}, {a, b}});
      for (double activation = 0; activation < 7; ++activation) {
        const bool prelu = activation == 4;
        all.push_back({"_FusedMatMul",
                       {left, right, f({4}), prelu ? f({4}, -0.5, 0.5) : left_out()},
                       {a, b, activation, -0.3}});
      }
    }
  }
  all.push_back({"BatchMatMul", {c({2, 3}), c({3, 2})}, {0, 0}});
  all.push_back({"BatchMatMul", {f({2, 1, 2, 3}), f({4, 3, 2})}, {0, 0}});
  all.push_back({"BatchMatMul", {f({2, 0}), f({0, 3})}, {0, 0}});
  all.push_back({"_FusedMatMul", {f({2, 3}), f({3, 2})}, {0, 0, 1, 0}});
}

// strides, pads, dilations as the table has them.
const std::vector<double> kWindow{2, 2, 1, 4, 1, 0, 1, 1, 2, 1, 1};
const std::vector<double> kDilated{2, 1, 1, 4, 1, 1, 1, 1, 2, 2, 1};
const std::vector<double> kVolume{3, 1, 2, 1, 6, 1, 0, 0, 1, 0, 0, 3, 1, 1, 1};

std::vector<double> with(std::vector<double> first, const std::vector<double>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

void add_convolutions(std::vector<GradCase>& all) {
  all.push_back({"Conv2D", {f({2, 4, 3, 2}), f({2, 2, 2, 3})}, with(kWindow, {0, 0})});
  all.push_back({"Conv2D", {f({1, 4, 3, 2}), f({2, 2, 2, 2})}, with(kDilated, {0, 0})});
  all.push_back({"Conv2D", {f({1, 2, 4, 3}), f({2, 2, 2, 2})}, with(kWindow, {0, 1})});
  for (const double activation : {1, 4, 6}) {
    all.push_back({"FusedConv2D",
                   {f({1, 4, 3, 2}), f({2, 2, 2, 3}), f({3}), f({3}, -0.5, 0.5)},
                   with(kWindow, {0, 0, activation, 0.2})});
  }
  all.push_back({"FusedConv2D",
                 {f({1, 2, 4, 3}), f({2, 2, 2, 3}), f({3}), f({3}, -0.5, 0.5)},
                 with(kWindow, {0, 1, 4, 0.2})});
  all.push_back({"Conv2DBackpropInput",
                 {f({1, 2, 3, 2}), f({2, 2, 2, 2})},
                 with(kWindow, {0, 4, 1, 4, 3, 2})});
  all.push_back({"Conv2DBackpropFilter",
                 {f({1, 4, 3, 2}), f({1, 2, 3, 2})},
                 with(kWindow, {0, 4, 2, 2, 2, 2})});
  all.push_back(
      {"DepthwiseConv2dNative", {f({1, 4, 3, 2}), f({2, 2, 2, 2})}, with(kWindow, {0, 0})});
  all.push_back({"FusedDepthwiseConv2D",
                 {f({1, 4, 3, 2}), f({2, 2, 2, 2}), f({4})},
                 with(kWindow, {0, 0, 1, 0})});
  all.push_back({"DepthwiseConv2dNativeBackpropInput",
                 {f({1, 2, 3, 4}), f({2, 2, 2, 2})},
                 with(kWindow, {4, 1, 4, 3, 2})});
  all.push_back({"DepthwiseConv2dNativeBackpropFilter",
                 {f({1, 4, 3, 2}), f({1, 2, 3, 4})},
                 with(kWindow, {4, 2, 2, 2, 2})});
  all.push_back({"Conv3D", {f({1, 2, 3, 2, 1}), f({2, 2, 1, 1, 2})}, with(kVolume, {0})});
  all.push_back({"Conv3DBackpropInputV2",
                 {f({1, 2, 2, 2, 2}), f({2, 2, 1, 1, 2})},
                 with(kVolume, {5, 1, 2, 3, 2, 1})});
  all.push_back({"Conv3DBackpropFilterV2",
                 {f({1, 2, 3, 2, 1}), f({1, 2, 2, 2, 2})},
                 with(kVolume, {5, 2, 2, 1, 1, 2})});
  all.push_back({"Dilation2D", {f({1, 4, 3, 2}), f({2, 2, 2})}, with(kWindow, {0})});
}

void add_windows(std::vector<GradCase>& all) {
  const std::vector<double> plane = with({2, 2, 2}, kWindow), volume = with({3, 2, 2, 1}, kVolume);
  for (const char* op : {"AvgPool", "MaxPool"}) {
    all.push_back({op, {f({2, 4, 3, 2})}, with(plane, {0})});
  }
  for (const char* op : {"AvgPool3D", "MaxPool3D"}) {
    all.push_back({op, {f({1, 2, 3, 2, 1})}, with(volume, {0})});
  }
  all.push_back({"MaxPoolWithArgmax", {f({2, 4, 3, 2})}, with(plane, {0, 0})});
  all.push_back({"AvgPoolGrad", {f({2, 2, 3, 2}), f({2, 4, 3, 2})}, plane});
  all.push_back({"AvgPool3DGrad", {f({1, 2, 2, 2, 1}), f({1, 2, 3, 2, 1})}, volume});
  all.push_back({"MaxPoolGrad", {f({2, 2, 3, 2}), f({2, 4, 3, 2})}, plane});
  const Given x = f({2, 2, 3}), variance = f({3}, 0.5, 2);
  all.push_back({"FusedBatchNorm", {x, f({3}), variance, f({3}), f({3})}, {0.01}});
  all.push_back({"FusedBatchNorm", {x, f({}), variance}, {0.01}});
  all.push_back({"LRN", {f({1, 1, 2, 5})}, {1, 1, 0.5, 0.5}});
  all.push_back({"Softmax", {f({2, 5})}, {-1}});
  all.push_back({"LogSoftmax", {f({2, 5})}, {-1}});
  all.push_back({"FlipLeftRight", {f({1, 2, 3, 2})}});
  for (const double align : {0, 1}) {
    all.push_back({"ResizeBilinear", {f({1, 2, 3, 2})}, {2, 4, 5, align, 0}});
    all.push_back({"ResizeNearestNeighbor", {f({1, 2, 3, 2})}, {2, 4, 5, align, 0}});
    all.push_back({"ResizeBilinearGrad", {f({1, 2, 3, 1}), f({1, 4, 5, 1})}, {align}});
    all.push_back({"ResizeNearestNeighborGrad", {f({1, 2, 3, 1}), f({1, 4, 5, 1})}, {align}});
  }
}

}  // namespace

const std::vector<GradCase>& grad_cases() {
  static const std::vector<GradCase> cases = [] {
    std::vector<GradCase> all;
    add_elementwise(all);
    add_movement(all);
    add_indexing(all);
    add_reductions(all);
    add_products(all);
    add_convolutions(all);
    add_windows(all);
    return all;
  }();
  return cases;
}

}  // namespace ebb::test
