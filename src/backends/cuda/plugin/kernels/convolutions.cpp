// Convolutions: what needs no computing, and which way to compute the rest. Where there are several
// ways, the first call of a shape runs each and takes the fastest; it waits for its stream to do
// so. A stream that is being captured cannot be waited for: there the first way is taken, for that
// call.
#include "backends/cuda/plugin/kernels/convolutions.hpp"

#include <limits>
#include <mutex>

#include "backends/cuda/plugin/device_state.hpp"
#include "backends/cuda/plugin/kernels/epilogue.hpp"
#include "backends/cuda/plugin/kernels/neural.hpp"
#include "backends/cuda/plugin/kernels/products.hpp"
#include "backends/cuda/plugin/kernels/shape_cache.hpp"
#include "ops/params/program_ops.hpp"

namespace ebb::cuda {
namespace {

using ops::Convolution;

// The ways to compute one shape: Ebb's own two, then those of cuDNN. Tiles can do all.
constexpr std::size_t kTiles = 0;
constexpr std::size_t kFew = 1;
constexpr std::size_t kOfCudnn = 2;

struct Choice {
  std::shared_ptr<CudnnConvolution> cudnn;
  bool few = false;
  std::size_t way = kTiles;
  bool chosen = false;

  std::size_t ways() const { return kOfCudnn + (cudnn == nullptr ? 0 : cudnn->ways()); }
};

PlanKey key_of(const Convolution& c, Direction direction, const DeviceState& device) {
  const ops::Windows& w = c.windows;
  PlanKey key(static_cast<std::int64_t>(direction));
  key.add(static_cast<std::int64_t>(device.conv_math()));
  key.add(static_cast<std::int64_t>(w.axes)).add(w.batch).add(c.in_channels).add(c.out_channels);
  key.add(c.channels_first);
  for (std::size_t i = 0; i < w.axes; ++i) {
    key.add(w.in[i]).add(w.out[i]).add(w.size[i]).add(w.stride[i]).add(w.dilation[i]);
    key.add(w.before[i]);
  }
  return key;
}

// For all threads of a device (DeviceState::part): measuring is dear, and what was chosen does not
// change.
class Choices {
 public:
  explicit Choices(DeviceState&) {}
  Choice get(const PlanKey& key, DeviceState& device, const Convolution& c, Direction direction) {
    const std::lock_guard lock(mutex_);
    return cache_.get(key, [&] {
      Choice made;
      made.cudnn = CudnnConvolution::make(device, c, direction);
      made.few = has_few_channels(c, direction);
      made.chosen = made.cudnn == nullptr && !made.few;
      return made;
    });
  }
  void set(const PlanKey& key, const Choice& choice) {
    const std::lock_guard lock(mutex_);
    cache_.get(key, [&] { return choice; }) = choice;
  }

 private:
  std::mutex mutex_;
  ShapeCache<Choice> cache_;
};

bool run_way(Call& call, const Convolution& c, const ConvolutionData& data, const Choice& choice,
             std::size_t way, ConvolutionRoom& room, const ChannelEpilogue& epilogue) {
  if (way >= kOfCudnn) {
    return choice.cudnn != nullptr && choice.cudnn->run(call, data, way - kOfCudnn, room);
  }
  if (way == kFew && !choice.few) return false;
  way == kFew ? convolve_few(call, c, data, epilogue) : convolve_by_tiles(call, c, data, epilogue);
  return true;
}

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  float milliseconds_since(const Event& begin) {
    check(cudaEventSynchronize(event_), "cudaEventSynchronize");
    float time = 0;
    check(cudaEventElapsedTime(&time, begin.event_, event_), "cudaEventElapsedTime");
    return time;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// Infinite where the way does not work.
float time_of(Call& call, const Convolution& c, const ConvolutionData& data, const Choice& choice,
              std::size_t way, ConvolutionRoom& room) {
  constexpr int kTimes = 3;
  Event begin;
  Event end;
  try {
    if (!run_way(call, c, data, choice, way, room, {}))
      return std::numeric_limits<float>::infinity();
    begin.record(call.stream());
    for (int i = 0; i < kTimes; ++i) run_way(call, c, data, choice, way, room, {});
    end.record(call.stream());
    return end.milliseconds_since(begin);
  } catch (const Failure& failure) {
    // No memory for a workspace: another way needs less.
    if (failure.status != EBB_CUDA_NO_MEMORY || way == kTiles) throw;
    return std::numeric_limits<float>::infinity();
  }
}

bool is_capturing(Call& call) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(call.stream(), &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

void choose(Call& call, const Convolution& c, const ConvolutionData& data, Choice& choice,
            ConvolutionRoom& room) {
  float best = std::numeric_limits<float>::infinity();
  for (std::size_t way = 0; way < choice.ways(); ++way) {
    const float time = time_of(call, c, data, choice, way, room);
    if (time < best) {
      best = time;
      choice.way = way;
    }
  }
  choice.chosen = true;
}

// A filter of one tap that visits every pixel, channels last: a product of [pixels, in] and [in,
// out].
bool is_product(const Convolution& c) {
  const ops::Windows& w = c.windows;
  bool plain = !c.channels_first;
  for (std::size_t i = 0; i < w.axes; ++i) {
    plain = plain && w.size[i] == 1 && w.stride[i] == 1 && w.before[i] == 0 && w.in[i] == w.out[i];
  }
  return plain;
}

// What became of a convolution's result.
enum class Done { kNothing, kSums, kAll };

Done convolve_as_product(Call& call, const Convolution& c, const ConvolutionData& data,
                         const Finish* finish) {
  std::int64_t pixels = c.windows.batch;
  for (std::size_t i = 0; i < c.windows.axes; ++i) pixels *= c.windows.in[i];
  const MatrixOperand x{data.x, c.in_channels, false, 0};
  const MatrixOperand filter{data.filter, c.out_channels, false, 0};
  const MatrixOperand y{data.y, c.out_channels, false, 0};
  const auto turned = [](MatrixOperand operand) {
    operand.transposed = true;
    return operand;
  };
  ProductRun run;
  switch (data.direction) {
    case Direction::kForward:
      run = {DType::kFloat32, pixels, c.in_channels, c.out_channels, 1, x, filter, data.y};
      break;
    case Direction::kBackData:
      run = {DType::kFloat32, pixels, c.out_channels, c.in_channels, 1, y, turned(filter), data.x};
      break;
    case Direction::kBackFilter:
      run = {DType::kFloat32, c.in_channels, pixels, c.out_channels, 1, turned(x), y, data.filter};
      break;
  }
  if (multiply_small(call, run, finish != nullptr ? *finish : Finish())) {
    return finish != nullptr ? Done::kAll : Done::kSums;
  }
  return multiply_by_cublas(call, run) ? Done::kSums : Done::kNothing;
}

// As Ebb's kernels for other convolutions take it, which do not normalise.
bool channel_epilogue(const Finish* finish, ChannelEpilogue& made) {
  if (finish == nullptr || finish->norm.mean != nullptr) return false;
  made = {finish->bias, finish->activation, finish->alpha};
  return true;
}

// True: the result is finished.
bool convolve(Call& call, const Convolution& c, const ConvolutionData& data, const Finish* finish) {
  if (c.depthwise) {
    convolve_depthwise(call, c, data, finish != nullptr ? *finish : Finish());
    return finish != nullptr;
  }
  if (is_product(c)) {
    const Done done = convolve_as_product(call, c, data, finish);
    if (done != Done::kNothing) return done == Done::kAll;
  }
  ChannelEpilogue fused;
  const bool takes = channel_epilogue(finish, fused);
  DeviceState& device = call.device();
  Choices& choices = device.part<Choices>();
  const PlanKey key = key_of(c, data.direction, device);
  Choice choice = choices.get(key, device, c, data.direction);
  ConvolutionRoom room;
  if (!choice.chosen && is_capturing(call)) {
    choice.way = choice.few ? kFew : kOfCudnn;
  } else if (!choice.chosen) {
    choose(call, c, data, choice, room);
    choices.set(key, choice);
  }
  if (run_way(call, c, data, choice, choice.way, room, fused)) {
    return choice.way < kOfCudnn && takes;
  }
  convolve_by_tiles(call, c, data, fused);
  return takes;
}

// Nothing to sum over: the result is zero. Windows that touch no data need no case of their own.
bool is_trivial(const Call& call) {
  return elements(call.input(0)) == 0 || elements(call.input(1)) == 0;
}

// Bias and activation as the kernels take them; false where they are more than one number a
// channel.
bool finish_of(const Call& call, const Convolution& c, Finish& made) {
  const ops::Epilogue& epilogue = c.epilogue;
  const ebb_cuda_tensor& result = call.output(0);
  if (epilogue.activation == ops::Activation::kPrelu) return false;
  made.activation = epilogue.activation;
  made.alpha = epilogue.alpha;
  if (!epilogue.bias.given) return true;
  const std::uint32_t channels = c.channels_first ? 1 : result.rank - 1;
  for (std::uint32_t axis = 0; axis < result.rank; ++axis) {
    const std::int64_t wanted = axis == channels ? 1 : 0;
    if (result.dims[axis] != 1 && epilogue.bias.strides[axis] != wanted) return false;
  }
  made.bias = call.in<float>(2);
  return true;
}

float* pointer(const Call& call, std::size_t input) {
  return const_cast<float*>(call.in<float>(input));
}

void clear_result(Call& call) {
  clear(call, call.output(0).data, elements(call.output(0)) * std::int64_t{sizeof(float)});
}

ConvolutionData forward_data(const Call& call) {
  return {Direction::kForward, pointer(call, 0), pointer(call, 1), call.out<float>(0)};
}

void forward(Call& call) {
  const auto& c = call.params<Convolution>();
  if (elements(call.output(0)) == 0) return;
  Finish finish;
  bool done = false;
  if (is_trivial(call)) {
    clear_result(call);
  } else {
    const bool fits = finish_of(call, c, finish);
    done = convolve(call, c, forward_data(call), fits ? &finish : nullptr);
  }
  if (!done) apply_epilogue(call, c.epilogue, false);
}

// Of a recorded program: what comes after x and filter normalises (ops/normed.hpp).
void normed_forward(Call& call) {
  const auto& c = call.params<Convolution>();
  if (elements(call.output(0)) == 0) return;
  constexpr std::size_t kEpsilon = 7;  // after the attributes of FusedConv2D
  Finish finish;
  finish.activation = c.epilogue.activation;
  finish.alpha = c.epilogue.alpha;
  finish.norm = {.mean = call.in<float>(2),
                 .variance = call.in<float>(3),
                 .offset = call.in<float>(4),
                 .scale = call.in<float>(5),
                 .epsilon = static_cast<float>(call.number(kEpsilon))};
  const bool trivial = is_trivial(call);
  if (trivial) clear_result(call);
  if (trivial || !convolve(call, c, forward_data(call), &finish)) apply_norm(call, finish);
}

void back_filter(Call& call) {
  if (elements(call.output(0)) == 0) return;
  if (is_trivial(call)) return clear_result(call);
  convolve(call, call.params<Convolution>(),
           {Direction::kBackFilter, pointer(call, 0), call.out<float>(0), pointer(call, 1)},
           nullptr);
}

void back_input(Call& call) {
  if (elements(call.output(0)) == 0) return;
  if (is_trivial(call)) return clear_result(call);
  convolve(call, call.params<Convolution>(),
           {Direction::kBackData, call.out<float>(0), pointer(call, 1), pointer(call, 0)}, nullptr);
}

EBB_CUDA_KERNEL(Conv2D, forward);
EBB_CUDA_KERNEL(FusedConv2D, forward);
EBB_CUDA_KERNEL(DepthwiseConv2dNative, forward);
EBB_CUDA_KERNEL(FusedDepthwiseConv2D, forward);
EBB_CUDA_KERNEL(Conv3D, forward);
EBB_CUDA_KERNEL(Conv2DBackpropFilter, back_filter);
EBB_CUDA_KERNEL(DepthwiseConv2dNativeBackpropFilter, back_filter);
EBB_CUDA_KERNEL(Conv3DBackpropFilterV2, back_filter);
EBB_CUDA_KERNEL(Conv2DBackpropInput, back_input);
EBB_CUDA_KERNEL(DepthwiseConv2dNativeBackpropInput, back_input);
EBB_CUDA_KERNEL(Conv3DBackpropInputV2, back_input);
const Registration normed_registered(ops::kNormedConvolution, normed_forward);
const Registration normed_depthwise_registered(ops::kNormedDepthwise, normed_forward);

}  // namespace
}  // namespace ebb::cuda
