// Sorting, searching, and what is there once.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backends/cpu/copy.hpp"
#include "backends/cpu/element.hpp"
#include "backends/cpu/families.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

// Largest first, equal ones by position, NaN last.
template <typename T>
struct Before {
  const T* values;
  bool operator()(std::int32_t i, std::int32_t j) const {
    const auto a = convert<Arithmetic<T>>(values[i]), b = convert<Arithmetic<T>>(values[j]);
    if (a > b) return true;
    if (a < b) return false;
    const bool a_nan = a != a, b_nan = b != b;
    return a_nan == b_nan ? i < j : b_nan;
  }
};

void top_k(OpCall& call) {
  const Shape& shape = call.input(0).shape;
  const std::int64_t length = shape.dims()[shape.rank() - 1], k = call.integer(0);
  const std::int64_t rows = ops::extent(shape, 0, shape.rank() - 1);
  std::vector<std::int32_t> order(static_cast<std::size_t>(length));
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    if constexpr (!kIsComplex<T>) {
      for (std::int64_t row = 0; row < rows; ++row) {
        const T* values = call.in<T>(0) + row * length;
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + k, order.end(), Before<T>{values});
        for (std::int64_t i = 0; i < k; ++i) {
          const std::int32_t at = order[static_cast<std::size_t>(i)];
          call.out<T>(0)[row * k + i] = values[at];
          call.out<std::int32_t>(1)[row * k + i] = at;
        }
      }
    }
  });
}

// Zeros of either sign are one value.
template <typename T>
void without_sign_of_zero(T* values, std::int64_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    for (std::int64_t i = 0; i < count; ++i) values[i] = values[i] == 0 ? T(0) : values[i];
  } else {
    static_cast<void>(values);
    static_cast<void>(count);
  }
}

// Slices along the axis, each in one piece: [axis, before x after].
std::byte* slices_of(OpCall& call, std::int64_t before, std::int64_t count, std::int64_t after) {
  const Operand& x = call.input(0);
  const std::size_t size = size_of(x.dtype);
  std::byte* slices = call.workspace(static_cast<std::uint64_t>(before * count * after) * size);
  ops::CopyPlan plan;
  plan.add(count, after, before * after);
  plan.add(before, count * after, after);
  plan.add(after, 1, 1);
  plan.simplify();
  copy(plan, size, x.data, slices);
  return slices;
}

void unique(OpCall& call) {
  const Operand& x = call.input(0);
  const std::size_t axis = ops::checked_axis(call, call.integer(0), x.shape.rank());
  const std::int64_t before = ops::extent(x.shape, 0, axis), count = x.shape.dims()[axis];
  const std::int64_t after = ops::extent(x.shape, axis + 1, x.shape.rank());
  std::byte* slices = slices_of(call, before, count, after);
  visit(x.dtype, [&]<typename T>(Type<T>) {
    without_sign_of_zero(reinterpret_cast<T*>(slices), before * count * after);
  });
  const std::size_t bytes = static_cast<std::size_t>(before * after) * size_of(x.dtype);
  std::unordered_map<std::string_view, std::int32_t> seen;
  std::vector<std::int32_t> index(static_cast<std::size_t>(count)), firsts;
  for (std::int64_t i = 0; i < count; ++i) {
    const char* at = reinterpret_cast<const char*>(slices) + static_cast<std::size_t>(i) * bytes;
    const auto [found, is_new] =
        seen.emplace(std::string_view(at, bytes), static_cast<std::int32_t>(firsts.size()));
    if (is_new) firsts.push_back(static_cast<std::int32_t>(i));
    index[static_cast<std::size_t>(i)] = found->second;
  }
  ops::IntList dims(x.shape.dims());
  dims[axis] = static_cast<std::int64_t>(firsts.size());
  std::byte* to = call.make(x.dtype, Shape(dims)).data;
  call.make(DType::kInt32, Shape{count});
  std::copy(index.begin(), index.end(), call.out<std::int32_t>(1));
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    ops::CopyPlan plan{.to_offset = static_cast<std::int64_t>(i) * after};
    plan.add(before, after, dims[axis] * after);
    plan.add(after, 1, 1);
    plan.simplify();
    copy(plan, size_of(x.dtype), slices + static_cast<std::size_t>(firsts[i]) * bytes, to);
  }
}

void search(OpCall& call) {
  const Shape& sorted = call.input(0).shape;
  const Shape& values = call.input(1).shape;
  const std::int64_t length = sorted.dims()[sorted.rank() - 1];
  const std::int64_t each = values.dims()[values.rank() - 1];
  const ops::OpId id = call.spec().id;
  const bool upper = id == op_id("UpperBound") || (id == op_id("SearchSorted") && call.boolean(0));
  std::int32_t* out = call.out<std::int32_t>(0);
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    if constexpr (!kIsComplex<T>) {
      using A = Arithmetic<T>;
      const auto less = [](T a, T b) { return convert<A>(a) < convert<A>(b); };
      for (std::int64_t i = 0; i < ops::elements(values); ++i) {
        const T* begin = call.in<T>(0) + i / each * length;
        const T value = call.in<T>(1)[i];
        const T* at = upper ? std::upper_bound(begin, begin + length, value, less)
                            : std::lower_bound(begin, begin + length, value, less);
        out[i] = static_cast<std::int32_t>(at - begin);
      }
    }
  });
}

}  // namespace

void add_sorting(KernelTable& kernels) {
  kernels.set(op_id("TopK"), top_k);
  kernels.set(op_id("Unique"), unique);
  kernels.set(op_id("LowerBound"), search);
  kernels.set(op_id("UpperBound"), search);
  kernels.set(op_id("SearchSorted"), search);
}

}  // namespace ebb::cpu
