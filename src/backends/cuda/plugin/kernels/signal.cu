// Fourier transforms of the last axis, in double as on the CPU: Stockham's passes for lengths that
// are powers of two, Bluestein's chirps for the others, which come down to the former.
#include "backends/cuda/plugin/kernels/element.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"

namespace ebb::cuda {
namespace {

constexpr std::int64_t kSharedLength =
    1024;  // rows of up to this many are transformed by one block
constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of workspace

__device__ double2 times(double2 a, double2 b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
__device__ double2 plus(double2 a, double2 b) { return {a.x + b.x, a.y + b.y}; }
__device__ double2 minus(double2 a, double2 b) { return {a.x - b.x, a.y - b.y}; }

// exp(sign * i * pi * part)
__device__ double2 turn(double part, int sign) {
  double2 result;
  sincospi(part, &result.y, &result.x);
  result.y *= sign;
  return result;
}

// One butterfly of a pass over a row of `length`: `done` is how far earlier passes have come.
__device__ void butterfly(const double2* from, double2* to, std::int64_t i, std::int64_t length,
                          std::int64_t done, int sign) {
  const std::int64_t half = length / 2, k = i & (done - 1);
  const double2 a = from[i];
  const double2 b =
      times(from[i + half], turn(static_cast<double>(k) / static_cast<double>(done), sign));
  const std::int64_t at = ((i - k) << 1) + k;
  to[at] = plus(a, b);
  to[at + done] = minus(a, b);
}

__global__ void __launch_bounds__(kThreads)
    pass(const double2* from, double2* to, std::int64_t rows, std::int64_t length,
         std::int64_t done, int sign) {
  const std::int64_t half = length / 2;
  for (std::int64_t at = first(); at < rows * half; at += all()) {
    const std::int64_t row = at / half;
    butterfly(from + row * length, to + row * length, at - row * half, length, done, sign);
  }
}

__global__ void __launch_bounds__(kThreads) passes(double2* data, int length, int sign) {
  __shared__ double2 room[2 * kSharedLength];
  double2* from = room;
  double2* to = room + kSharedLength;
  data += std::int64_t{blockIdx.x} * length;
  for (int i = threadIdx.x; i < length; i += kThreads) from[i] = data[i];
  for (int done = 1; done < length; done *= 2) {
    __syncthreads();
    for (int i = threadIdx.x; i < length / 2; i += kThreads) {
      butterfly(from, to, i, length, done, sign);
    }
    double2* other = from;
    from = to;
    to = other;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < length; i += kThreads) data[i] = from[i];
}

// Transforms `rows` rows; returns where the result is: data or scratch.
double2* transform_rows(cudaStream_t stream, double2* data, double2* scratch, std::int64_t rows,
                        std::int64_t length, int sign) {
  if (length <= kSharedLength) {
    passes<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(data, static_cast<int>(length),
                                                                 sign);
    launched("a Fourier transform");
    return data;
  }
  for (std::int64_t done = 1; done < length; done *= 2) {
    pass<<<blocks_for(rows * length / 2), kThreads, 0, stream>>>(data, scratch, rows, length, done,
                                                                 sign);
    launched("a Fourier transform");
    std::swap(data, scratch);
  }
  return data;
}

// ---- in and out

struct Widen {
  const float2* from;
  double2* to;
  __device__ void operator()(std::int64_t i) const { to[i] = {from[i].x, from[i].y}; }
};

struct Narrow {
  const double2* from;
  float2* to;
  double scale;
  __device__ void operator()(std::int64_t i) const {
    to[i] = {static_cast<float>(from[i].x * scale), static_cast<float>(from[i].y * scale)};
  }
};

// ---- lengths that are no powers of two

// exp(sign * i * pi * k^2 / n); k^2 counts modulo 2n.
__device__ double2 chirp(std::int64_t k, std::int64_t n, int sign) {
  return turn(static_cast<double>(k * k % (2 * n)) / static_cast<double>(n), sign);
}

struct ChirpIn {
  const float2* from;
  double2* to;
  std::int64_t n, padded;
  int sign;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / padded, k = i - row * padded;
    const float2 value = k < n ? from[row * n + k] : float2{};
    to[i] = k < n ? times({value.x, value.y}, chirp(k, n, sign)) : double2{};
  }
};

struct ChirpFilter {
  double2* to;
  std::int64_t n, padded;
  int sign;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t k = i < n ? i : padded - i;
    to[i] = k < n ? chirp(k, n, -sign) : double2{};
  }
};

struct Filter {
  double2* data;
  const double2* filter;
  std::int64_t padded;
  __device__ void operator()(std::int64_t i) const {
    data[i] = times(data[i], filter[i & (padded - 1)]);
  }
};

struct ChirpOut {
  const double2* from;
  float2* to;
  std::int64_t n, padded;
  int sign;
  double scale;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / n, k = i - row * n;
    const double2 value = times(from[row * padded + k], chirp(k, n, sign));
    to[i] = {static_cast<float>(value.x * scale), static_cast<float>(value.y * scale)};
  }
};

struct Rows {
  const float2* from;
  float2* to;
  std::int64_t count, length;
  int sign;
  double scale;
};

void transform_power(cudaStream_t stream, const Rows& rows, double2* data, double2* scratch) {
  const std::int64_t count = rows.count * rows.length;
  for_each(stream, count, "a Fourier transform", Widen{rows.from, data});
  const double2* result = transform_rows(stream, data, scratch, rows.count, rows.length, rows.sign);
  for_each(stream, count, "a Fourier transform", Narrow{result, rows.to, rows.scale});
}

void transform_other(cudaStream_t stream, const Rows& rows, std::int64_t padded,
                     const double2* filter, double2* data, double2* scratch) {
  const std::int64_t count = rows.count * padded, n = rows.length;
  for_each(stream, count, "a Fourier transform", ChirpIn{rows.from, data, n, padded, rows.sign});
  double2* there = transform_rows(stream, data, scratch, rows.count, padded, 1);
  for_each(stream, count, "a Fourier transform", Filter{there, filter, padded});
  const double2* back =
      transform_rows(stream, there, there == data ? scratch : data, rows.count, padded, -1);
  for_each(stream, rows.count * n, "a Fourier transform",
           ChirpOut{back, rows.to, n, padded, rows.sign, rows.scale / static_cast<double>(padded)});
}

void transform(Call& call) {
  const ebb_cuda_tensor& x = call.input(0);
  if (elements(x) == 0) return;
  const bool inverse = call.op() == ops::op_id("IFFT");
  const std::int64_t length = x.dims[x.rank - 1], all_rows = elements(x) / length;
  const bool power = (length & (length - 1)) == 0;
  std::int64_t padded = 1;
  while (padded < (power ? length : 2 * length - 1)) padded *= 2;
  const auto row_bytes = static_cast<std::size_t>(padded) * 2 * sizeof(double2);
  const std::int64_t at_once =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(kMostBytes / row_bytes), 1, all_rows);
  auto* data = call.workspace<double2>(
      checked_product({static_cast<std::size_t>(at_once), static_cast<std::size_t>(padded), 2}));
  double2* scratch = data + at_once * padded;
  const int sign = inverse ? 1 : -1;
  const double2* filter = nullptr;
  if (!power) {
    auto* made = call.workspace<double2>(checked_product({static_cast<std::size_t>(padded), 2}));
    for_each(call.stream(), padded, "a Fourier transform", ChirpFilter{made, length, padded, sign});
    filter = transform_rows(call.stream(), made, made + padded, 1, padded, 1);
  }
  for (std::int64_t row = 0; row < all_rows; row += at_once) {
    const Rows rows{.from = call.in<float2>(0) + row * length,
                    .to = call.out<float2>(0) + row * length,
                    .count = std::min(at_once, all_rows - row),
                    .length = length,
                    .sign = sign,
                    .scale = inverse ? 1.0 / static_cast<double>(length) : 1.0};
    if (power) {
      transform_power(call.stream(), rows, data, scratch);
    } else {
      transform_other(call.stream(), rows, padded, filter, data, scratch);
    }
  }
}
EBB_CUDA_KERNEL(FFT, transform);
EBB_CUDA_KERNEL(IFFT, transform);

}  // namespace
}  // namespace ebb::cuda
