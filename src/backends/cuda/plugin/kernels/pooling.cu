// Poolings. cuDNN has them, but not what TensorFlow.js promises: a window of -Infinity, one that
// lies outside of the data, int32. A thread takes one element of the result, channels side by side.
#include <limits>

#include "backends/cuda/plugin/kernels/neural.hpp"
#include "backends/cuda/plugin/kernels/windows.cuh"
#include "ops/params/pooling.hpp"

namespace ebb::cuda {
namespace {

using ops::Pooling;

template <typename T>
__device__ inline T lowest();
template <>
__device__ inline float lowest<float>() {
  return -INFINITY;
}
template <>
__device__ inline std::int32_t lowest<std::int32_t>() {
  return INT32_MIN;
}

template <typename Index>
struct Pool {
  Volume<Index> w;
  Index channels;
  __host__ __device__ Index results() const { return w.batch * positions(w.out) * channels; }
};

#define EBB_FOR_EACH_ELEMENT(i, count)                                                   \
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < (count); \
       i += static_cast<Index>(gridDim.x) * blockDim.x)

template <typename T, typename Index>
__global__ void pool_maximum(Pool<Index> p, const T* x, T* y) {
  EBB_FOR_EACH_ELEMENT(i, p.results()) {
    const Element<Index> at = element_at(p.w.out, p.channels, i);
    const T* image = x + at.image * positions(p.w.in) * p.channels + at.channel;
    T most = lowest<T>();
    for_each_tap(p.w, at.z, at.y, at.x, [&](Index in, Index) {
      const T value = image[in * p.channels];
      most = value > most ? value : most;
    });
    y[i] = most;
  }
}

// Indices are flat in the image, or in the batch; -1 where nothing is larger than the lowest value.
template <typename T, typename Index>
__global__ void pool_argmax(Pool<Index> p, bool batch_in_index, const T* x, T* y,
                            std::int32_t* index) {
  EBB_FOR_EACH_ELEMENT(i, p.results()) {
    const Element<Index> at = element_at(p.w.out, p.channels, i);
    const Index image_size = positions(p.w.in) * p.channels;
    const T* image = x + at.image * image_size + at.channel;
    T most = lowest<T>();
    Index place = -1;
    for_each_tap(p.w, at.z, at.y, at.x, [&](Index in, Index) {
      const T value = image[in * p.channels];
      if (value > most) {
        most = value;
        place = in;
      }
    });
    const Index base = batch_in_index ? at.image * image_size : 0;
    y[i] = most;
    index[i] = static_cast<std::int32_t>(place < 0 ? -1 : base + place * p.channels + at.channel);
  }
}

// A window without data is NaN in a plane and 0 in a volume, as in TensorFlow.js.
template <bool kZeroIfOutside, typename Index>
__global__ void pool_average(Pool<Index> p, const float* x, float* y) {
  EBB_FOR_EACH_ELEMENT(i, p.results()) {
    const Element<Index> at = element_at(p.w.out, p.channels, i);
    const float* image = x + at.image * positions(p.w.in) * p.channels + at.channel;
    float sum = 0.0F;
    Index taps = for_each_tap(p.w, at.z, at.y, at.x,
                              [&](Index in, Index) { sum += image[in * p.channels]; });
    if (kZeroIfOutside && taps < 1) taps = 1;
    y[i] = sum / static_cast<float>(taps);
  }
}

// Each tap has an equal share of its window's gradient, taps outside of the data included.
template <typename Index>
__global__ void pool_average_gradient(Pool<Index> p, float share, const float* dy, float* dx) {
  const Index count = p.w.batch * positions(p.w.in) * p.channels;
  EBB_FOR_EACH_ELEMENT(i, count) {
    const Element<Index> at = element_at(p.w.in, p.channels, i);
    const float* image = dy + at.image * positions(p.w.out) * p.channels + at.channel;
    float sum = 0.0F;
    for_each_window(p.w, at.z, at.y, at.x,
                    [&](Index out) { sum += image[out * p.channels] * share; });
    dx[i] = sum;
  }
}

// The place of the largest element of a window. Of equal values the first stays, or the last takes
// over; -1 where nothing is larger than -Infinity.
template <bool kLastOfEqual, typename Index>
__device__ inline Index largest_place(const Pool<Index>& p, Index z, Index y, Index x,
                                      const float* image) {
  float most = -INFINITY;
  Index place = -1;
  for_each_tap(p.w, z, y, x, [&](Index in, Index) {
    const float value = image[in * p.channels];
    if (kLastOfEqual ? value >= most : value > most) {
      most = value;
      place = in;
    }
  });
  return place;
}

template <bool kLastOfEqual, typename Index>
__global__ void find_places(Pool<Index> p, const float* x, Index* places) {
  EBB_FOR_EACH_ELEMENT(i, p.results()) {
    const Element<Index> at = element_at(p.w.out, p.channels, i);
    places[i] = largest_place<kLastOfEqual>(
        p, at.z, at.y, at.x, x + at.image * positions(p.w.in) * p.channels + at.channel);
  }
}

// `places`: from find_places; null: they are found here, once for each window that has the element.
template <bool kLastOfEqual, typename Index>
__global__ void pool_maximum_gradient(Pool<Index> p, const float* dy, const float* x,
                                      const Index* places, float* dx) {
  const Index count = p.w.batch * positions(p.w.in) * p.channels;
  EBB_FOR_EACH_ELEMENT(i, count) {
    const Element<Index> at = element_at(p.w.in, p.channels, i);
    const Index results = at.image * positions(p.w.out) * p.channels + at.channel;
    const float* image = x + at.image * positions(p.w.in) * p.channels + at.channel;
    const Index own = (at.z * p.w.in[1] + at.y) * p.w.in[2] + at.x;
    float sum = 0.0F;
    for_each_window(p.w, at.z, at.y, at.x, [&](Index out) {
      Index place;
      if (places != nullptr) {
        place = places[results + out * p.channels];
      } else {
        const Index row = out / p.w.out[2];
        place = largest_place<kLastOfEqual>(p, row / p.w.out[1], row % p.w.out[1], out % p.w.out[2],
                                            image);
      }
      if (place == own) sum += dy[results + out * p.channels];
    });
    dx[i] = sum;
  }
}

// Where windows lie side by side and leave nothing out: a thread takes one window, and writes all of
// it.
template <bool kLastOfEqual, typename Index>
__global__ void pool_maximum_gradient_apart(Pool<Index> p, const float* dy, const float* x,
                                            float* dx) {
  EBB_FOR_EACH_ELEMENT(i, p.results()) {
    const Element<Index> at = element_at(p.w.out, p.channels, i);
    const Index image = at.image * positions(p.w.in) * p.channels + at.channel;
    const Index place = largest_place<kLastOfEqual>(p, at.z, at.y, at.x, x + image);
    const float gradient = dy[i];
    for_each_tap(p.w, at.z, at.y, at.x, [&](Index in, Index) {
      dx[image + in * p.channels] = in == place ? gradient : 0.0F;
    });
  }
}

template <typename Index>
bool lie_apart(const Volume<Index>& w) {
  bool apart = true;
  for (int i = 0; i < 3; ++i) {
    apart = apart && w.stride[i] == w.size[i] && w.dilation[i] == 1 && w.before[i] == 0 &&
            w.in[i] % w.size[i] == 0 && w.in[i] / w.size[i] == w.out[i];
  }
  return apart;
}

// Calls launch(pool) with indices of 32 or 64 bits; not where there is nothing to write.
template <typename Launch>
void with_pool(Call& call, Launch launch) {
  const auto& pooling = call.params<Pooling>();
  if (elements(call.output(0)) == 0) return;
  if (fits_32_bits(pooling.windows, pooling.channels)) {
    using Index = std::int32_t;
    launch(Pool<Index>{volume_of<Index>(pooling.windows), static_cast<Index>(pooling.channels)});
  } else {
    using Index = std::int64_t;
    launch(Pool<Index>{volume_of<Index>(pooling.windows), static_cast<Index>(pooling.channels)});
  }
  launched("pooling");
}

template <typename T>
void maximum_of(Call& call) {
  with_pool(call, [&](auto pool) {
    pool_maximum<T><<<blocks_for(pool.results()), kThreads, 0, call.stream()>>>(pool, call.in<T>(0),
                                                                                call.out<T>(0));
  });
}

void maximum(Call& call) {
  return dtype_of(call.input(0)) == DType::kInt32 ? maximum_of<std::int32_t>(call)
                                                  : maximum_of<float>(call);
}

template <typename T>
void maximum_with_argmax_of(Call& call) {
  const bool batch_in_index = call.params<Pooling>().batch_in_index;
  with_pool(call, [&](auto pool) {
    pool_argmax<T><<<blocks_for(pool.results()), kThreads, 0, call.stream()>>>(
        pool, batch_in_index, call.in<T>(0), call.out<T>(0), call.out<std::int32_t>(1));
  });
}

void maximum_with_argmax(Call& call) {
  return dtype_of(call.input(0)) == DType::kInt32 ? maximum_with_argmax_of<std::int32_t>(call)
                                                  : maximum_with_argmax_of<float>(call);
}

template <bool kZeroIfOutside>
void average(Call& call) {
  with_pool(call, [&](auto pool) {
    pool_average<kZeroIfOutside><<<blocks_for(pool.results()), kThreads, 0, call.stream()>>>(
        pool, call.in<float>(0), call.out<float>(0));
  });
}

void average_gradient(Call& call) {
  with_pool(call, [&](auto pool) {
    const float share = 1.0F / static_cast<float>(positions(pool.w.size));
    pool_average_gradient<<<blocks_for(elements(call.output(0))), kThreads, 0, call.stream()>>>(
        pool, share, call.in<float>(0), call.out<float>(0));
  });
}

template <bool kLastOfEqual>
void maximum_gradient(Call& call) {
  // Looking again costs less than a second launch while windows are small.
  constexpr std::int64_t kFewTaps = 9;
  with_pool(call, [&]<typename Index>(const Pool<Index>& pool) {
    if (lie_apart(pool.w)) {
      pool_maximum_gradient_apart<kLastOfEqual>
          <<<blocks_for(pool.results()), kThreads, 0, call.stream()>>>(
              pool, call.in<float>(0), call.in<float>(1), call.out<float>(0));
      return;
    }
    Index* places = nullptr;
    if (positions(pool.w.size) > kFewTaps && pool.results() > 0) {
      places = call.workspace<Index>(static_cast<std::size_t>(pool.results()));
      find_places<kLastOfEqual><<<blocks_for(pool.results()), kThreads, 0, call.stream()>>>(
          pool, call.in<float>(1), places);
    }
    pool_maximum_gradient<kLastOfEqual>
        <<<blocks_for(elements(call.output(0))), kThreads, 0, call.stream()>>>(
            pool, call.in<float>(0), call.in<float>(1), places, call.out<float>(0));
  });
}

EBB_CUDA_KERNEL(AvgPool, average<false>);
EBB_CUDA_KERNEL(AvgPool3D, average<true>);
EBB_CUDA_KERNEL(AvgPoolGrad, average_gradient);
EBB_CUDA_KERNEL(AvgPool3DGrad, average_gradient);
EBB_CUDA_KERNEL(MaxPool, maximum);
EBB_CUDA_KERNEL(MaxPool3D, maximum);
EBB_CUDA_KERNEL(MaxPoolGrad, maximum_gradient<false>);
EBB_CUDA_KERNEL(MaxPool3DGrad, maximum_gradient<true>);
EBB_CUDA_KERNEL(MaxPoolWithArgmax, maximum_with_argmax);

}  // namespace
}  // namespace ebb::cuda
