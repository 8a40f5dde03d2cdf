// Non-maximum suppression: the best box that is left is selected, unless it overlaps one selected
// before. With a sigma, an overlap lowers its score and it has to queue again.
#include "ops/params/suppression.hpp"

#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/families.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;
using ops::SuppressionParams;

struct Candidate {
  double score;
  std::int32_t box;
  std::int32_t seen;  // selections that have had their effect on the score
};

// Of equal scores the first box is best.
bool worse(const Candidate& a, const Candidate& b) noexcept {
  return a.score != b.score ? a.score < b.score : a.box > b.box;
}

double overlap(const float* boxes, std::int32_t i, std::int32_t j) noexcept {
  const float* a = boxes + std::int64_t{i} * 4;
  const float* b = boxes + std::int64_t{j} * 4;
  // Corners come in any order. In double, as JavaScript does.
  const auto low = [](const float* box, int axis) {
    return double{std::min(box[axis], box[axis + 2])};
  };
  const auto high = [](const float* box, int axis) {
    return double{std::max(box[axis], box[axis + 2])};
  };
  const auto area = [&](const float* box) {
    return (high(box, 0) - low(box, 0)) * (high(box, 1) - low(box, 1));
  };
  const double area_a = area(a), area_b = area(b);
  if (!(area_a > 0 && area_b > 0)) return 0;
  const auto shared = [&](int axis) {
    return std::max(std::min(high(a, axis), high(b, axis)) - std::max(low(a, axis), low(b, axis)),
                    0.0);
  };
  const double common = shared(0) * shared(1);
  return common / (area_a + area_b - common);
}

struct Selection {
  std::int32_t* boxes;
  float* scores;
  std::int32_t count = 0;
};

// Applies the selections the candidate has not met yet; false: it is suppressed.
bool survives(Candidate& candidate, const float* boxes, const Selection& selected,
              const SuppressionParams& params) noexcept {
  const double scale = params.sigma > 0 ? -0.5 / params.sigma : 0;
  for (std::int32_t j = selected.count; j-- > candidate.seen;) {
    const double iou = overlap(boxes, candidate.box, selected.boxes[j]);
    if (iou >= params.overlap) return false;
    candidate.score *= std::exp(scale * iou * iou);
    if (candidate.score <= params.score) break;
  }
  candidate.seen = selected.count;
  return true;
}

void select(const float* boxes, Candidate* first, Candidate* last, Selection& selected,
            const SuppressionParams& params) {
  std::make_heap(first, last, worse);
  while (first != last && selected.count < params.most) {
    std::pop_heap(first, last, worse);
    Candidate& best = *(last - 1);
    const double before = best.score;
    if (before < params.score) break;
    if (!survives(best, boxes, selected, params)) {
      --last;
    } else if (best.score == before) {
      selected.boxes[selected.count] = best.box;
      selected.scores[selected.count++] = static_cast<float>(best.score);
      --last;
    } else if (best.score > params.score) {
      std::push_heap(first, last, worse);  // with its new score
    } else {
      --last;
    }
  }
}

Selection run_selection(OpCall& call) {
  const auto& params = call.params<SuppressionParams>();
  const auto count = static_cast<std::uint64_t>(params.boxes);
  const float* scores = call.in<float>(1);
  auto* candidates = call.workspace<Candidate>(count);
  Candidate* last = candidates;
  for (std::int32_t i = 0; i < params.boxes; ++i) {
    if (scores[i] > params.score) *last++ = {scores[i], i, 0};
  }
  auto* boxes = call.workspace<std::int32_t>(count);
  Selection selected{boxes, call.workspace<float>(count)};
  select(call.in<float>(0), candidates, last, selected, params);
  return selected;
}

void suppression(OpCall& call) {
  const auto& params = call.params<SuppressionParams>();
  call.check(params.boxes <= 0x7fffffff, "{} boxes were given, at most 2^31 - 1 are allowed",
             params.boxes);
  const Selection selected = run_selection(call);
  const std::int64_t length =
      params.pad ? std::max<std::int64_t>(params.most, selected.count) : selected.count;
  call.make(DType::kInt32, Shape{length});
  auto* indices = call.out<std::int32_t>(0);
  std::fill(std::copy_n(selected.boxes, selected.count, indices), indices + length, 0);
  if (call.spec().id == op_id("NonMaxSuppressionV4")) {
    call.make(DType::kInt32, Shape{});
    *call.out<std::int32_t>(1) = selected.count;
  } else if (call.spec().id == op_id("NonMaxSuppressionV5")) {
    call.make(DType::kFloat32, Shape{selected.count});
    std::copy_n(selected.scores, selected.count, call.out<float>(1));
  }
}

}  // namespace

void add_suppression(KernelTable& kernels) {
  for (const ops::OpId id :
       {op_id("NonMaxSuppressionV3"), op_id("NonMaxSuppressionV4"), op_id("NonMaxSuppressionV5")}) {
    kernels.set(id, suppression);
  }
}

}  // namespace ebb::cpu
