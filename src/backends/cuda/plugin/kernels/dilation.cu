// Grayscale dilation and its gradients. The gradients are sums over windows that overlap; their
// order is part of the result, so the largest sums are found side by side, and added up in order.
#include "backends/cuda/plugin/kernels/neural.hpp"
#include "backends/cuda/plugin/kernels/windows.cuh"
#include "ops/params/pooling.hpp"

namespace ebb::cuda {
namespace {

using Index = std::int64_t;
using ops::Pooling;

// What TensorFlow.js begins with: a sum must be larger to count.
template <typename T>
__device__ inline T floor_of();
template <>
__device__ inline float floor_of<float>() {
  return -9007199254740991.0F;
}
template <>
__device__ inline std::int32_t floor_of<std::int32_t>() {
  return INT32_MIN;
}

struct Work {
  Volume<Index> w;
  Index channels;
  __host__ __device__ Index results() const { return w.batch * positions(w.out) * channels; }
};

__device__ inline Index first_element() {
  return static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline Index grid_step() { return static_cast<Index>(gridDim.x) * blockDim.x; }

// Sums of int32 wrap.
__device__ inline float sum_of(float a, float b) { return a + b; }
__device__ inline std::int32_t sum_of(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

template <typename T>
__global__ void dilate_windows(Work p, const T* x, const T* filter, T* y) {
  for (Index i = first_element(); i < p.results(); i += grid_step()) {
    const Element<Index> at = element_at(p.w.out, p.channels, i);
    const T* image = x + at.image * positions(p.w.in) * p.channels + at.channel;
    T most = floor_of<T>();
    for_each_tap(p.w, at.z, at.y, at.x, [&](Index in, Index tap) {
      const T sum = sum_of(image[in * p.channels], filter[tap * p.channels + at.channel]);
      most = sum > most ? sum : most;
    });
    y[i] = most;
  }
}

// Where the largest sum of a window is: the first pixel under it and the first tap if there is
// none.
struct Peak {
  std::int32_t pixel;
  std::int32_t tap;
};

__global__ void find_peaks(Work p, const float* x, const float* filter, Peak* peaks) {
  for (Index i = first_element(); i < p.results(); i += grid_step()) {
    const Element<Index> at = element_at(p.w.out, p.channels, i);
    const float* image = x + at.image * positions(p.w.in) * p.channels + at.channel;
    const Index y = max(Index{0}, taps_of(p.w, 1, at.y).start);
    const Index left = max(Index{0}, taps_of(p.w, 2, at.x).start);
    Peak peak{
        static_cast<std::int32_t>(y < p.w.in[1] && left < p.w.in[2] ? y * p.w.in[2] + left : 0), 0};
    float most = floor_of<float>();
    for_each_tap(p.w, at.z, at.y, at.x, [&](Index in, Index tap) {
      const float sum = image[in * p.channels] + filter[tap * p.channels + at.channel];
      if (sum > most) {
        most = sum;
        peak = {static_cast<std::int32_t>(in), static_cast<std::int32_t>(tap)};
      }
    });
    peaks[i] = peak;
  }
}

// A thread has one channel of one image.
__global__ void add_to_pixels(Work p, const Peak* peaks, const float* dy, float* dx) {
  for (Index i = first_element(); i < p.w.batch * p.channels; i += grid_step()) {
    const Index image = i / p.channels;
    const Index channel = i % p.channels;
    float* to = dx + image * positions(p.w.in) * p.channels + channel;
    const Index from = image * positions(p.w.out) * p.channels + channel;
    for (Index out = 0; out < positions(p.w.out); ++out) {
      const Index at = from + out * p.channels;
      to[static_cast<Index>(peaks[at].pixel) * p.channels] += dy[at];
    }
  }
}

// A thread has one channel of one tap.
__global__ void add_to_taps(Work p, const Peak* peaks, const float* dy, float* gradients) {
  for (Index i = first_element(); i < positions(p.w.size) * p.channels; i += grid_step()) {
    const Index tap = i / p.channels;
    float sum = 0.0F;
    for (Index at = i % p.channels; at < p.results(); at += p.channels) {
      if (peaks[at].tap == tap) sum += dy[at];
    }
    gradients[i] = sum;
  }
}

Work work_of(const Call& call) {
  const auto& pooling = call.params<Pooling>();
  return {volume_of<Index>(pooling.windows), pooling.channels};
}

template <typename T>
void dilate_of(Call& call) {
  const Work work = work_of(call);
  if (work.results() == 0) return;
  dilate_windows<T><<<blocks_for(work.results()), kThreads, 0, call.stream()>>>(
      work, call.in<T>(0), call.in<T>(1), call.out<T>(0));
  launched("dilation");
}

void dilate(Call& call) {
  return dtype_of(call.input(0)) == DType::kInt32 ? dilate_of<std::int32_t>(call)
                                                  : dilate_of<float>(call);
}

// Null: there is nothing to add.
const Peak* peaks_of(Call& call, const Work& work) {
  clear(call, call.output(0).data, elements(call.output(0)) * std::int64_t{sizeof(float)});
  if (elements(call.output(0)) == 0 || work.results() == 0) return nullptr;
  Peak* peaks = call.workspace<Peak>(static_cast<std::size_t>(work.results()));
  find_peaks<<<blocks_for(work.results()), kThreads, 0, call.stream()>>>(work, call.in<float>(0),
                                                                         call.in<float>(1), peaks);
  launched("dilation's largest sums");
  return peaks;
}

void input_gradient(Call& call) {
  const Work work = work_of(call);
  const Peak* peaks = peaks_of(call, work);
  if (peaks == nullptr) return;
  add_to_pixels<<<blocks_for(work.w.batch * work.channels), kThreads, 0, call.stream()>>>(
      work, peaks, call.in<float>(2), call.out<float>(0));
  launched("dilation's gradient");
}

void filter_gradient(Call& call) {
  const Work work = work_of(call);
  const Peak* peaks = peaks_of(call, work);
  if (peaks == nullptr) return;
  add_to_taps<<<blocks_for(positions(work.w.size) * work.channels, 32), 32, 0, call.stream()>>>(
      work, peaks, call.in<float>(2), call.out<float>(0));
  launched("dilation's gradient");
}

EBB_CUDA_KERNEL(Dilation2D, dilate);
EBB_CUDA_KERNEL(Dilation2DBackpropInput, input_gradient);
EBB_CUDA_KERNEL(Dilation2DBackpropFilter, filter_gradient);

}  // namespace
}  // namespace ebb::cuda
