// Convolutions: what the ways to compute one agree on. A way is cuBLASLt for a filter of one tap,
// one of cuDNN's algorithms, or one of Ebb's own two; which one, convolutions.cpp chooses once for
// each shape.
#pragma once

#include <memory>
#include <vector>

#include "backends/cuda/plugin/kernel.hpp"
#include "backends/cuda/plugin/kernels/direction.hpp"
#include "backends/cuda/plugin/kernels/finish.hpp"
#include "ops/params/convolutions.hpp"

namespace ebb::cuda {

// The three tensors by their part in the forward operation; the one that is computed is written.
struct ConvolutionData {
  Direction direction = Direction::kForward;
  float* x = nullptr;
  float* filter = nullptr;
  float* y = nullptr;
};

// ---- Ebb's own kernels (convolutions_tiles.cu, convolutions_few.cu, convolutions_depthwise.cu)

// What can be done to a forward result while it is written: a bias for each channel, an activation.
struct ChannelEpilogue {
  const float* bias = nullptr;
  ops::Activation activation = ops::Activation::kLinear;
  float alpha = 0;
};

void convolve_by_tiles(Call& call, const ops::Convolution& c, const ConvolutionData& data,
                       const ChannelEpilogue& epilogue);
// Where there are few channels of each kind, and windows move by one.
bool has_few_channels(const ops::Convolution& c, Direction direction);
void convolve_few(Call& call, const ops::Convolution& c, const ConvolutionData& data,
                  const ChannelEpilogue& epilogue);
void convolve_depthwise(Call& call, const ops::Convolution& c, const ConvolutionData& data,
                        const Finish& finish);

// Adds `parts` lists of `count` numbers, one after the other in memory, always in the same order.
// Where lists consist of lines of `line` numbers, these become columns of the result.
void sum_parts(Call& call, const float* parts, std::int64_t part_count, std::int64_t count,
               float* result, std::int64_t line = 0);

// ---- layouts (convolutions_layout.cu)

// Filters are [taps, in, out] here; cuDNN wants [out, taps, in], or [out, in, taps] with channels
// first.
void filter_to_cudnn(Call& call, const ops::Convolution& c, const float* from, float* to);
void filter_from_cudnn(Call& call, const ops::Convolution& c, const float* from, float* to);

// The data with its padding written out (and what no window reaches left away): `extents` long.
void write_padded(Call& call, const ops::Convolution& c, const ops::Spatial& extents,
                  const float* from, float* to);
// The other way: what lies in the padding goes, what was left away is 0.
void read_padded(Call& call, const ops::Convolution& c, const ops::Spatial& extents,
                 const float* from, float* to);

// ---- cuDNN (convolutions_cudnn.cpp)

// Memory of one call that its attempts share.
struct ConvolutionRoom {
  float* padded = nullptr;
  float* filter = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

// cuDNN's algorithms for one shape, as it proposes them; may be shared between threads.
class CudnnConvolution {
 public:
  // None where cuDNN is not there or does not know the shape.
  static std::unique_ptr<CudnnConvolution> make(DeviceState& device, const ops::Convolution& c,
                                                Direction direction);
  virtual ~CudnnConvolution() = default;

  virtual std::size_t ways() const = 0;
  // False: cuDNN refused this way after all.
  virtual bool run(Call& call, const ConvolutionData& data, std::size_t way,
                   ConvolutionRoom& room) = 0;
};

}  // namespace ebb::cuda
