// Non-maximum suppression: of boxes that overlap, the one with the best score.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/families.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

struct Candidate {
  double score;
  std::int32_t box;
  std::size_t compared = 0;  // with that many of the selected ones
};

// Worst first; of equal ones the later box.
bool worse(const Candidate& a, const Candidate& b) {
  return a.score != b.score ? a.score < b.score : a.box > b.box;
}

struct Box {
  double top, left, bottom, right;
  explicit Box(const float* corners)
      : top(std::min(corners[0], corners[2])),
        left(std::min(corners[1], corners[3])),
        bottom(std::max(corners[0], corners[2])),
        right(std::max(corners[1], corners[3])) {}
  double area() const { return (bottom - top) * (right - left); }
};

double overlap(const float* boxes, std::int32_t i, std::int32_t j) {
  const Box a(boxes + 4 * i), b(boxes + 4 * j);
  if (a.area() <= 0 || b.area() <= 0) return 0;
  const double height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0);
  const double width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0);
  const double both = height * width;
  return both / (a.area() + b.area() - both);
}

struct Selection {
  std::vector<std::int32_t> boxes;
  std::vector<float> scores;
};

struct Suppression {
  const float* boxes;
  double overlap_limit, score_limit, sigma;

  // Lowers the candidate's score by what is selected already. False: it is suppressed.
  bool weigh(Candidate& candidate, const Selection& selected) const {
    const double scale = sigma > 0 ? -0.5 / sigma : 0.0;
    for (std::size_t j = selected.boxes.size(); j-- > candidate.compared;) {
      const double share = overlap(boxes, candidate.box, selected.boxes[j]);
      if (share >= overlap_limit) return false;
      candidate.score *= share <= overlap_limit ? std::exp(scale * share * share) : 0.0;
      if (candidate.score <= score_limit) break;
    }
    return true;
  }
};

Selection select(OpCall& call, double sigma) {
  const float* scores = call.in<float>(1);
  const Suppression rule{call.in<float>(0), call.number(1), call.number(2), sigma};
  std::vector<Candidate> candidates;
  for (std::int32_t i = 0; i < call.input(1).shape.dims()[0]; ++i) {
    if (scores[i] > rule.score_limit) candidates.push_back({scores[i], i});
  }
  std::sort(candidates.begin(), candidates.end(), worse);
  Selection selected;
  while (static_cast<std::int64_t>(selected.boxes.size()) < call.integer(0) &&
         !candidates.empty()) {
    Candidate best = candidates.back();
    candidates.pop_back();
    const double before = best.score;
    if (before < rule.score_limit) break;
    const bool stays = rule.weigh(best, selected);
    best.compared = selected.boxes.size();
    if (!stays) continue;
    if (best.score == before) {
      selected.boxes.push_back(best.box);
      selected.scores.push_back(static_cast<float>(best.score));
    } else if (best.score > rule.score_limit) {
      candidates.insert(std::upper_bound(candidates.begin(), candidates.end(), best, worse), best);
    }
  }
  return selected;
}

template <typename T>
void give(OpCall& call, DType dtype, const std::vector<T>& values) {
  ops::Output& out = call.make(dtype, Shape{static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), reinterpret_cast<T*>(out.data));
}

void suppress(OpCall& call) { give(call, DType::kInt32, select(call, 0).boxes); }

void suppress_and_count(OpCall& call) {
  Selection selected = select(call, 0);
  const auto valid = static_cast<std::int32_t>(selected.boxes.size());
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(0, call.integer(0)));
  if (call.boolean(3) && most > selected.boxes.size()) selected.boxes.resize(most, 0);
  give(call, DType::kInt32, selected.boxes);
  call.make(DType::kInt32, Shape{});
  *call.out<std::int32_t>(1) = valid;
}

void suppress_softly(OpCall& call) {
  const Selection selected = select(call, call.number(3));
  give(call, DType::kInt32, selected.boxes);
  give(call, DType::kFloat32, selected.scores);
}

}  // namespace

void add_boxes(KernelTable& kernels) {
  kernels.set(op_id("NonMaxSuppressionV3"), suppress);
  kernels.set(op_id("NonMaxSuppressionV4"), suppress_and_count);
  kernels.set(op_id("NonMaxSuppressionV5"), suppress_softly);
}

}  // namespace ebb::cpu
