// Non-maximum suppression: the best box that is left is selected, unless it overlaps one selected
// before. With a sigma, an overlap lowers its score and it has to queue again. One block does it
// all: each step looks for the best of all that are left.
#include "backends/cuda/plugin/kernels/copy.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/note.cuh"
#include "backends/cuda/plugin/kernels/overlap.cuh"
#include "ops/params/suppression.hpp"

namespace ebb::cuda {
namespace {

constexpr std::int64_t kMostThreads = 1024;

struct Suppression {
  const float* boxes;
  const float* given;  // scores
  std::int32_t count, most;
  double overlap, score, sigma;
  // by box: what is left of its score; selections that have had their effect on it, -1: it is out
  double* scores;
  std::int32_t* seen;
  std::int32_t* selected;
  float* selected_scores;
  std::int64_t* note;  // how many are selected
};

struct Best {
  double score;
  std::int32_t box;  // -1: none
};

// Of equal scores the first box is best.
__device__ Best better(Best a, Best b) {
  if (a.box < 0) return b;
  if (b.box < 0) return a;
  const bool takes = a.score != b.score ? a.score < b.score : a.box > b.box;
  return takes ? b : a;
}

__device__ Best best_of_block(Best best) {
  __shared__ Best warps[kMostThreads / 32];
  for (int by = 16; by > 0; by /= 2) {
    const Best other{__shfl_down_sync(~0u, best.score, by), __shfl_down_sync(~0u, best.box, by)};
    best = better(best, other);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = best;
  __syncthreads();
  best = warps[0];
  for (unsigned i = 1; i < blockDim.x / 32; ++i) best = better(best, warps[i]);
  return best;
}

// Applies the selections a candidate has not met yet, the last first.
__device__ void meet(const Suppression& s, std::int32_t box, std::int32_t selected, Best& best,
                     bool& out) {
  const double scale = -0.5 / s.sigma;
  out = false;
  for (std::int32_t j = selected; j-- > s.seen[box];) {
    const double iou = intersection_over_union(s.boxes + std::int64_t{box} * 4,
                                               s.boxes + std::int64_t{s.selected[j]} * 4);
    if (iou >= s.overlap) {
      out = true;
      return;
    }
    best.score *= exp(scale * iou * iou);
    if (best.score <= s.score) break;
  }
}

__global__ void __launch_bounds__(kMostThreads) suppress(Suppression s) {
  __shared__ Best shared_best;
  __shared__ bool shared_out;
  for (std::int64_t i = threadIdx.x; i < s.count; i += blockDim.x) {
    s.scores[i] = s.given[i];
    s.seen[i] = s.given[i] > s.score ? 0 : -1;
  }
  std::int32_t selected = 0;
  while (selected < s.most) {
    __syncthreads();
    Best best{0, -1};
    for (std::int64_t i = threadIdx.x; i < s.count; i += blockDim.x) {
      if (s.seen[i] >= 0) {
        best = better(best, {s.scores[i], static_cast<std::int32_t>(i)});
      }
    }
    best = best_of_block(best);
    if (best.box < 0 || best.score < s.score) break;
    const double before = best.score;
    if (s.sigma > 0) {
      if (threadIdx.x == 0) {
        meet(s, best.box, selected, best, shared_out);
        shared_best = best;
      }
      __syncthreads();
      best = shared_best;
      if (shared_out || (best.score != before && !(best.score > s.score))) {
        if (threadIdx.x == 0) s.seen[best.box] = -1;
        continue;
      }
      if (best.score != before) {  // queues again, with its new score
        if (threadIdx.x == 0) {
          s.seen[best.box] = selected;
          s.scores[best.box] = best.score;
        }
        continue;
      }
    }
    if (threadIdx.x == 0) {
      s.selected[selected] = best.box;
      s.selected_scores[selected] = static_cast<float>(best.score);
      s.seen[best.box] = -1;
    }
    ++selected;
    if (s.sigma > 0) continue;
    __syncthreads();
    const float* chosen = s.boxes + std::int64_t{best.box} * 4;
    for (std::int64_t i = threadIdx.x; i < s.count; i += blockDim.x) {
      if (s.seen[i] >= 0 && intersection_over_union(s.boxes + i * 4, chosen) >= s.overlap) {
        s.seen[i] = -1;
      }
    }
  }
  if (threadIdx.x == 0) *s.note = selected;
}

struct Selection {
  const std::int32_t* boxes = nullptr;
  const float* scores = nullptr;
  std::int64_t count = 0;
};

Selection select(Call& call, const ops::SuppressionParams& params) {
  const std::int64_t most = std::min(params.most, params.boxes);
  if (most <= 0) return {};
  Note note(call.stream());
  const auto count = static_cast<std::size_t>(params.boxes);
  auto* scores = call.workspace<double>(count);
  auto* integers = call.workspace<std::int32_t>(checked_product({count, 2}));
  auto* selected_scores = call.workspace<float>(count);
  const Suppression suppression{.boxes = call.in<float>(0),
                                .given = call.in<float>(1),
                                .count = static_cast<std::int32_t>(params.boxes),
                                .most = static_cast<std::int32_t>(most),
                                .overlap = params.overlap,
                                .score = params.score,
                                .sigma = params.sigma,
                                .scores = scores,
                                .seen = integers,
                                .selected = integers + count,
                                .selected_scores = selected_scores,
                                .note = note.needed("NonMaxSuppression")};
  const std::int64_t threads =
      std::min((params.boxes + 31) / 32 * 32, kMostThreads);  // whole warps
  suppress<<<1, static_cast<unsigned>(threads), 0, call.stream()>>>(suppression);
  launched("NonMaxSuppression");
  return {suppression.selected, selected_scores, *note.wait()};
}

void suppression(Call& call) {
  const auto& params = call.params<ops::SuppressionParams>();
  if (params.boxes > 0x7fffffff) {
    bad_data(std::to_string(params.boxes) + " boxes were given, at most 2^31 - 1 are allowed");
  }
  const Selection selected = select(call, params);
  const std::int64_t length = params.pad ? std::max(params.most, selected.count) : selected.count;
  const std::int64_t dims[1] = {length}, count[1] = {selected.count};
  void* indices = call.make(DType::kInt32, dims).data;
  if (length > selected.count) fill(call.stream(), DType::kInt32, indices, length, 0);
  copy_runs(call.stream(), 4, 1, selected.count, selected.boxes, 0, indices, 0);
  if (call.op() == ops::op_id("NonMaxSuppressionV4")) {
    fill(call.stream(), DType::kInt32, call.make(DType::kInt32, {}).data, 1,
         static_cast<double>(selected.count));
  } else if (call.op() == ops::op_id("NonMaxSuppressionV5")) {
    copy_runs(call.stream(), 4, 1, selected.count, selected.scores, 0,
              call.make(DType::kFloat32, count).data, 0);
  }
}
EBB_CUDA_KERNEL(NonMaxSuppressionV3, suppression);
EBB_CUDA_KERNEL(NonMaxSuppressionV4, suppression);
EBB_CUDA_KERNEL(NonMaxSuppressionV5, suppression);

}  // namespace
}  // namespace ebb::cuda
