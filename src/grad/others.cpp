// Gradients of sorting, signals, sparse and ragged tensors; boxes and optimizers have none.
// arithmetic of this file: of tensors
#include <array>

#include "ebb/base/checked.hpp"
#include "grad/backprop.hpp"

namespace ebb::gradients {
namespace {

// Each of the largest goes back to where it was found.
void top_k(Backprop& call) {
  const Shape& x = call.x_shape();
  if (!call.dy()) return;
  if (call.y_shape().empty()) return call.give(0, zeros(x, call.x_dtype()));
  const std::int64_t n = x.dims()[x.rank() - 1], k = call.y_shape().dims()[x.rank() - 1];
  const std::int64_t rows = count_of(x) / n;
  const Tensor first =
      ops::reshape(ops::range(0, static_cast<double>(count_of(x)),
                              {.step = static_cast<double>(n), .dtype = DType::kInt32}),
                   {rows, 1});
  const Tensor at = ops::reshape(ops::reshape(call.y(1), {rows, k}) + first, {-1});
  const Tensor flat = ops::unsorted_segment_sum(ops::reshape(call.dy(), {-1}), at, count_of(x));
  call.give(0, reshaped(flat, x));
}

double length_of(const Backprop& call) {
  return static_cast<double>(call.x_shape().dims()[call.x_shape().rank() - 1]);
}

Tensor scaled(const Tensor& complex, double factor) {
  return ops::complex(ops::real(complex) * factor, ops::imag(complex) * factor);
}

void fft(Backprop& call) { call.give(0, scaled(ops::ifft(call.dy()), length_of(call))); }
void ifft(Backprop& call) { call.give(0, scaled(ops::fft(call.dy()), 1 / length_of(call))); }

// -> indices, values, emptyRowIndicator, reverseIndexMap: where each given value is now. What is
// left is the default's.
void fill_empty_rows(Backprop& call) {
  if (!call.dy(1)) return;
  const Tensor values = ops::gather_v2(call.dy(1), call.y(3));
  if (call.wants(1)) call.give(1, values);
  if (!call.wants(3)) return;
  const Tensor all =
      ops::unsorted_segment_sum(ops::ones_like(values), call.y(3), count_of(call.y_shape(1)));
  call.give(3, ops::sum(call.dy(1) * (1 - all), {0}));
}

// Row i of the data went, once for each time that indices name it, to that segment.
void give_segments(Backprop& call, const Tensor& by_segment) {
  const Shape& data = call.x_shape();
  if (call.x_shape(1).empty() || data.empty()) return call.give(0, zeros(data, call.x_dtype()));
  const Tensor rows = ops::gather_v2(by_segment, call.x(2));
  call.give(0, reshaped(ops::unsorted_segment_sum(rows, call.x(1), data.dims()[0]), data));
}

void segment_sum(Backprop& call) { give_segments(call, call.dy()); }

void segment_mean(Backprop& call) {
  const Shape& y = call.y_shape();
  const Tensor ones = ops::fill(dims_of(call.x_shape(2)), 1, call.x_dtype());
  const Tensor counts = ops::unsorted_segment_sum(ones, call.x(2), y.dims()[0]);
  Dims along(y.rank(), 1);
  along[0] = y.dims()[0];
  const Tensor divisor = ops::maximum(counts, ops::fill({}, 1, call.x_dtype()));
  give_segments(call, call.dy() / ops::reshape(divisor, along));
}

constexpr std::string_view kPositions = "its result is positions";
constexpr std::string_view kRagged = "the way back through ragged rows is not built";
constexpr std::string_view kUpdate = "an update is not differentiated";

// clang-format off
constexpr auto kRows = std::to_array<GradientRow>({
    {"TopK", top_k, {.outputs = 2}},
    missing("Unique", "which of several equal elements it is has no answer"),
    constant("LowerBound", kPositions),
    constant("UpperBound", kPositions),
    constant("SearchSorted", kPositions),

    complex_too("FFT", fft),
    complex_too("IFFT", ifft),

    {"SparseFillEmptyRows", fill_empty_rows, {.outputs = 8}},
    constant("SparseReshape", "its result is coordinates"),
    {"SparseSegmentMean", segment_mean, {.inputs = 6}},
    {"SparseSegmentSum", segment_sum, {.inputs = 6}},

    missing("RaggedGather", kRagged),
    missing("RaggedRange", kRagged),
    missing("RaggedTensorToTensor", kRagged),

    constant("NonMaxSuppressionV3", kPositions),
    constant("NonMaxSuppressionV4", kPositions),
    missing("NonMaxSuppressionV5", "the way back to the scores that were lowered is not built"),

    missing("AdamUpdate", kUpdate),
    missing("SgdUpdate", kUpdate),
    missing("MomentumUpdate", kUpdate),
    missing("AdagradUpdate", kUpdate),
    missing("AdadeltaUpdate", kUpdate),
    missing("AdamaxUpdate", kUpdate),
    missing("RmsPropUpdate", kUpdate),
});
// clang-format on
static_assert(covers(kRows, OfFamily{"sorting"}, OfFamily{"signal"}, OfFamily{"sparse"},
                     OfFamily{"ragged"}, OfFamily{"suppression"}, OfFamily{"optimizers"}));

}  // namespace

std::span<const GradientRow> of_others() noexcept { return kRows; }

}  // namespace ebb::gradients
