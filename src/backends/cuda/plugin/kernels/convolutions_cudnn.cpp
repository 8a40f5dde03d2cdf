// Convolutions by cuDNN, which sees data as it lies in memory and filters in its own order. Where
// padding is not alike on both sides, the data goes through a copy with the padding written out.
#include <algorithm>
#include <array>

#include "backends/cuda/plugin/device_state.hpp"
#include "backends/cuda/plugin/kernels/convolutions.hpp"
#include "backends/cuda/plugin/kernels/cudnn_library.hpp"
#include "backends/cuda/plugin/kernels/neural.hpp"

namespace ebb::cuda {
namespace {

using ops::Convolution;
using ops::Spatial;

constexpr std::size_t kMostWays = 4;
constexpr std::size_t kMostWorkspace = std::size_t{64} << 20;

// A description of cuDNN's, destroyed with its owner.
template <typename Handle, auto kCreate, auto kDestroy>
class Description {
 public:
  Description() { check_cudnn((cudnn_functions()->*kCreate)(&handle_), "a description"); }
  ~Description() { (cudnn_functions()->*kDestroy)(handle_); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  operator Handle() const noexcept { return handle_; }

 private:
  Handle handle_ = nullptr;
};
using TensorDesc = Description<cudnnTensorDescriptor_t, &CudnnFunctions::CreateTensorDescriptor,
                               &CudnnFunctions::DestroyTensorDescriptor>;
using FilterDesc = Description<cudnnFilterDescriptor_t, &CudnnFunctions::CreateFilterDescriptor,
                               &CudnnFunctions::DestroyFilterDescriptor>;
using ConvDesc =
    Description<cudnnConvolutionDescriptor_t, &CudnnFunctions::CreateConvolutionDescriptor,
                &CudnnFunctions::DestroyConvolutionDescriptor>;

std::int64_t product(const Spatial& extents, std::size_t axes) {
  std::int64_t made = 1;
  for (std::size_t i = 0; i < axes; ++i) made *= extents[i];
  return made;
}

// How cuDNN is to see the windows.
struct Geometry {
  Spatial extents{1, 1, 1};  // of the data, with its padding where that is written out
  Spatial padding{};
  bool padded = false;

  explicit Geometry(const ops::Windows& w) {
    for (std::size_t i = 0; i < w.axes; ++i) {
      const std::int64_t room = w.in[i] + 2 * w.before[i] - w.reach(i);
      padded = padded || room < 0 || room / w.stride[i] + 1 != w.out[i];
    }
    for (std::size_t i = 0; i < w.axes; ++i) {
      extents[i] = padded ? (w.out[i] - 1) * w.stride[i] + w.reach(i) : w.in[i];
      padding[i] = padded ? 0 : w.before[i];
    }
  }
};

bool fits_int(const Convolution& c, const Geometry& g) {
  const ops::Windows& w = c.windows;
  const std::int64_t taps = product(w.size, w.axes);
  bool fits = fits_32_bits(w.batch * c.in_channels * product(g.extents, w.axes),
                           w.batch * c.out_channels * product(w.out, w.axes),
                           taps * c.in_channels * c.out_channels);
  for (std::size_t i = 0; i < w.axes; ++i) {
    fits = fits && fits_32_bits(w.stride[i], w.dilation[i], g.padding[i], g.extents[i]);
  }
  return fits;
}

using Dims = std::array<int, ops::kMostSpatial + 2>;

// cuDNN names the axes batch, channels, spatial, whatever their order in memory.
Dims dims_of(std::int64_t first, std::int64_t second, const Spatial& rest, std::size_t axes) {
  Dims made{static_cast<int>(first), static_cast<int>(second)};
  for (std::size_t i = 0; i < axes; ++i) made[i + 2] = static_cast<int>(rest[i]);
  return made;
}

class Cudnn final : public CudnnConvolution {
 public:
  Cudnn(const Convolution& c, Direction direction, DeviceState& device)
      : c_(c), geometry_(c.windows), direction_(direction), device_(device) {
    c_.epilogue = {};
    describe();
  }

  // Asks cuDNN for its algorithms, the best first.
  void propose(cudaStream_t stream) {
    const CudnnHandle handle(device_, stream);
    int found = 0;
    switch (direction_) {
      case Direction::kForward: {
        std::array<cudnnConvolutionFwdAlgoPerf_t, 8> all{};
        const cudnnStatus_t status = cudnn_functions()->GetConvolutionForwardAlgorithm_v7(
            handle, x_, filter_, convolution_, y_, static_cast<int>(all.size()), &found,
            all.data());
        return take(status, all, found);
      }
      case Direction::kBackData: {
        std::array<cudnnConvolutionBwdDataAlgoPerf_t, 8> all{};
        const cudnnStatus_t status = cudnn_functions()->GetConvolutionBackwardDataAlgorithm_v7(
            handle, filter_, y_, convolution_, x_, static_cast<int>(all.size()), &found,
            all.data());
        return take(status, all, found);
      }
      case Direction::kBackFilter: {
        std::array<cudnnConvolutionBwdFilterAlgoPerf_t, 8> all{};
        const cudnnStatus_t status = cudnn_functions()->GetConvolutionBackwardFilterAlgorithm_v7(
            handle, x_, y_, convolution_, filter_, static_cast<int>(all.size()), &found,
            all.data());
        return take(status, all, found);
      }
    }
  }

  std::size_t ways() const override { return ways_.size(); }

  bool run(Call& call, const ConvolutionData& data, std::size_t way,
           ConvolutionRoom& room) override {
    const std::size_t axes = c_.windows.axes;
    float* x = data.x;
    if (geometry_.padded) {
      if (room.padded == nullptr) {
        room.padded = call.workspace<float>(checked_product(
            {static_cast<std::size_t>(c_.windows.batch), static_cast<std::size_t>(c_.in_channels),
             static_cast<std::size_t>(product(geometry_.extents, axes))}));
      }
      x = room.padded;
      if (direction_ != Direction::kBackData) {
        write_padded(call, c_, geometry_.extents, data.x, x);
      }
    }
    if (room.filter == nullptr) {
      room.filter = call.workspace<float>(checked_product(
          {static_cast<std::size_t>(product(c_.windows.size, axes)),
           static_cast<std::size_t>(c_.in_channels), static_cast<std::size_t>(c_.out_channels)}));
    }
    float* filter = room.filter;
    if (direction_ != Direction::kBackFilter) filter_to_cudnn(call, c_, data.filter, filter);
    const std::size_t bytes = ways_[way].workspace;
    if (bytes > room.workspace_bytes) {
      room.workspace = library_workspace(call, bytes);
      room.workspace_bytes = bytes;
    }
    if (!convolve(call, x, filter, data.y, way, room.workspace, bytes)) return false;
    if (direction_ == Direction::kBackFilter) filter_from_cudnn(call, c_, filter, data.filter);
    if (direction_ == Direction::kBackData && geometry_.padded) {
      read_padded(call, c_, geometry_.extents, x, data.x);
    }
    return true;
  }

 private:
  struct Way {
    int algorithm;
    std::size_t workspace;
  };

  void describe() {
    const ops::Windows& w = c_.windows;
    const int rank = static_cast<int>(w.axes) + 2;
    const cudnnTensorFormat_t format = c_.channels_first ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC;
    const Dims x = dims_of(w.batch, c_.in_channels, geometry_.extents, w.axes);
    const Dims y = dims_of(w.batch, c_.out_channels, w.out, w.axes);
    const Dims filter = dims_of(c_.out_channels, c_.in_channels, w.size, w.axes);
    check_cudnn(
        cudnn_functions()->SetTensorNdDescriptorEx(x_, format, CUDNN_DATA_FLOAT, rank, x.data()),
        "data");
    check_cudnn(
        cudnn_functions()->SetTensorNdDescriptorEx(y_, format, CUDNN_DATA_FLOAT, rank, y.data()),
        "a result");
    check_cudnn(cudnn_functions()->SetFilterNdDescriptor(filter_, CUDNN_DATA_FLOAT, format, rank,
                                                         filter.data()),
                "a filter");
    const Dims padding = dims_of(0, 0, geometry_.padding, w.axes);
    const Dims stride = dims_of(0, 0, w.stride, w.axes);
    const Dims dilation = dims_of(0, 0, w.dilation, w.axes);
    check_cudnn(cudnn_functions()->SetConvolutionNdDescriptor(
                    convolution_, static_cast<int>(w.axes), padding.data() + 2, stride.data() + 2,
                    dilation.data() + 2, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
                "a convolution");
    // The default lets TF32 in; fewer bits than that are not cuDNN's for float32.
    const bool exact = device_.conv_math() == Math::kF32;
    check_cudnn(cudnn_functions()->SetConvolutionMathType(
                    convolution_, exact ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH),
                "the kind of arithmetic");
  }

  // Those that work, give the same result each time, and need a moderate workspace.
  template <typename All>
  void take(cudnnStatus_t status, const All& all, int found) {
    if (status != CUDNN_STATUS_SUCCESS) return;
    for (std::size_t i = 0; i < static_cast<std::size_t>(found) && ways_.size() < kMostWays; ++i) {
      if (all[i].status != CUDNN_STATUS_SUCCESS || all[i].memory > kMostWorkspace) continue;
      if (all[i].determinism != CUDNN_DETERMINISTIC) continue;
      const int algorithm = static_cast<int>(all[i].algo);
      const bool known = std::any_of(ways_.begin(), ways_.end(),
                                     [&](const Way& way) { return way.algorithm == algorithm; });
      if (!known) ways_.push_back({algorithm, all[i].memory});
    }
  }

  bool convolve(Call& call, float* x, float* filter, float* y, std::size_t way, void* workspace,
                std::size_t bytes) {
    const CudnnHandle handle(device_, call.stream());
    const float one = 1.0F;
    const float none = 0.0F;
    const int algorithm = ways_[way].algorithm;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    switch (direction_) {
      case Direction::kForward:
        status = cudnn_functions()->ConvolutionForward(
            handle, &one, x_, x, filter_, filter, convolution_,
            static_cast<cudnnConvolutionFwdAlgo_t>(algorithm), workspace, bytes, &none, y_, y);
        break;
      case Direction::kBackData:
        status = cudnn_functions()->ConvolutionBackwardData(
            handle, &one, filter_, filter, y_, y, convolution_,
            static_cast<cudnnConvolutionBwdDataAlgo_t>(algorithm), workspace, bytes, &none, x_, x);
        break;
      case Direction::kBackFilter:
        status = cudnn_functions()->ConvolutionBackwardFilter(
            handle, &one, x_, x, y_, y, convolution_,
            static_cast<cudnnConvolutionBwdFilterAlgo_t>(algorithm), workspace, bytes, &none,
            filter_, filter);
        break;
    }
    if (status == CUDNN_STATUS_SUCCESS) return true;
    check(cudaGetLastError(), "a convolution by cuDNN");
    return false;
  }

  Convolution c_;
  Geometry geometry_;
  Direction direction_;
  DeviceState& device_;
  TensorDesc x_, y_;
  FilterDesc filter_;
  ConvDesc convolution_;
  std::vector<Way> ways_;
};

}  // namespace

std::unique_ptr<CudnnConvolution> CudnnConvolution::make(DeviceState& device, const Convolution& c,
                                                         Direction direction) {
  if (cudnn_functions() == nullptr || !fits_int(c, Geometry(c.windows))) return nullptr;
  try {
    auto made = std::make_unique<Cudnn>(c, direction, device);
    made->propose(nullptr);
    return made->ways() == 0 ? nullptr : std::move(made);
  } catch (const Failure& failure) {
    // Descriptions that cuDNN refuses are for Ebb's own kernels.
    if (failure.status != EBB_CUDA_FAILED) throw;
    return nullptr;
  }
}

}  // namespace ebb::cuda
