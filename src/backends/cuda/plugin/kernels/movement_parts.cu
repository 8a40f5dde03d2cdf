#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/loops.cuh"
#include "backends/cuda/plugin/kernels/movement_parts.hpp"

namespace ebb::cuda {
namespace {

constexpr std::size_t kMostParts = 64;  // of a launch
constexpr std::int64_t kMostBytes = std::int64_t{16}
                                    << 20;  // of the whole: beyond it a launch more is nothing

struct alignas(16) Sixteen {
  std::uint64_t half[2];
};

// The columns of some parts, in units of a T.
template <typename T>
struct Columns {
  T* whole;  // the first column
  T* part[kMostParts];
  std::uint32_t begin[kMostParts + 1];
  int count;
  std::uint32_t step;  // from row to row of the whole
  Divisor wide;        // columns of all these parts
  std::uint32_t units;
};

template <typename T, bool kJoins>
__global__ void __launch_bounds__(kThreads)
    copy_columns(const __grid_constant__ Columns<T> columns) {
  for (std::int64_t i = first(); i < columns.units; i += all()) {
    const std::uint32_t row = columns.wide.divide(static_cast<std::uint32_t>(i));
    const std::uint32_t column = static_cast<std::uint32_t>(i) - row * columns.wide.value;
    int low = 0, high = columns.count;  // the part: begin[low] <= column < begin[high]
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (column < columns.begin[middle] ? high : low) = middle;
    }
    const std::uint32_t own = columns.begin[low + 1] - columns.begin[low];
    T& part = columns.part[low][row * own + (column - columns.begin[low])];
    T& whole = columns.whole[row * columns.step + column];
    if constexpr (kJoins) {
      whole = part;
    } else {
      part = whole;
    }
  }
}

template <typename T, bool kJoins>
void launch_columns(cudaStream_t stream, std::byte* whole, std::int64_t rows,
                    std::int64_t row_bytes, std::span<const PartOfRows> parts) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  std::int64_t begin = 0;
  while (!parts.empty()) {
    const std::span<const PartOfRows> some = parts.first(std::min(parts.size(), kMostParts));
    parts = parts.subspan(some.size());
    Columns<T> columns{};
    columns.whole = reinterpret_cast<T*>(whole + begin);
    columns.count = static_cast<int>(some.size());
    columns.step = static_cast<std::uint32_t>(row_bytes / kSize);
    for (std::size_t i = 0; i < some.size(); ++i) {
      columns.part[i] = reinterpret_cast<T*>(some[i].data);
      columns.begin[i + 1] = columns.begin[i] + static_cast<std::uint32_t>(some[i].size / kSize);
    }
    const std::uint32_t wide = columns.begin[some.size()];
    if (wide == 0) continue;
    columns.wide = Divisor(wide);
    columns.units = static_cast<std::uint32_t>(rows) * wide;
    copy_columns<T, kJoins><<<blocks_for(columns.units), kThreads, 0, stream>>>(columns);
    launched("a copy of parts");
    begin += std::int64_t{wide} * kSize;
  }
}

// The widest unit in which everything can be moved, in bytes.
std::size_t unit_of(const std::byte* whole, std::int64_t row_bytes,
                    std::span<const PartOfRows> parts) {
  std::uint64_t all =
      reinterpret_cast<std::uintptr_t>(whole) | static_cast<std::uint64_t>(row_bytes);
  for (const PartOfRows& part : parts) {
    all |= reinterpret_cast<std::uintptr_t>(part.data) | static_cast<std::uint64_t>(part.size);
  }
  std::size_t unit = sizeof(Sixteen);
  while ((all & (unit - 1)) != 0) unit /= 2;
  return unit;
}

template <bool kJoins>
bool copy_parts(cudaStream_t stream, std::byte* whole, std::int64_t rows, std::int64_t row_bytes,
                std::span<const PartOfRows> parts) {
  if (parts.size() < 2 || rows * row_bytes > kMostBytes) return false;
  switch (unit_of(whole, row_bytes, parts)) {
    case 16:
      launch_columns<Sixteen, kJoins>(stream, whole, rows, row_bytes, parts);
      return true;
    case 8:
      launch_columns<std::uint64_t, kJoins>(stream, whole, rows, row_bytes, parts);
      return true;
    case 4:
      launch_columns<std::uint32_t, kJoins>(stream, whole, rows, row_bytes, parts);
      return true;
    case 2:
      launch_columns<std::uint16_t, kJoins>(stream, whole, rows, row_bytes, parts);
      return true;
    default:
      launch_columns<std::uint8_t, kJoins>(stream, whole, rows, row_bytes, parts);
      return true;
  }
}

}  // namespace

bool join_parts(cudaStream_t stream, std::byte* to, std::int64_t rows, std::int64_t whole,
                std::span<const PartOfRows> parts) {
  return copy_parts<true>(stream, to, rows, whole, parts);
}

bool cut_parts(cudaStream_t stream, std::byte* from, std::int64_t rows, std::int64_t whole,
               std::span<const PartOfRows> parts) {
  return copy_parts<false>(stream, from, rows, whole, parts);
}

}  // namespace ebb::cuda
