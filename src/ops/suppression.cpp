// Non-maximum suppression: boxes [n,4], scores [n]. How many boxes stay is in the data, so the
// kernel makes the outputs.
#include "ops/params/suppression.hpp"

#include "ops/families.hpp"
#include "ops/format.hpp"

namespace ebb::ops {
namespace {

consteval std::size_t in_all(std::string_view name) {
  return attribute_of_all(name, "NonMaxSuppressionV3", "NonMaxSuppressionV4",
                          "NonMaxSuppressionV5");
}
constexpr std::size_t kMost = in_all("maxOutputSize");
constexpr std::size_t kOverlap = in_all("iouThreshold");
constexpr std::size_t kScore = in_all("scoreThreshold");

void suppression(OpCall& call) {
  const Shape& boxes = call.input(0).shape;
  const Shape& scores = call.input(1).shape;
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.input(i).dtype == DType::kComplex64) call.fail_dtype(i, "a real one");
  }
  call.check(boxes.rank() == 2 && boxes.dims()[1] == 4, "boxes are {}, [n,4] is allowed", boxes);
  call.check(scores.rank() == 1 && scores.dims()[0] == boxes.dims()[0],
             "there are {} boxes, and scores of {}", boxes.dims()[0], scores);
  const std::int64_t most = call.integer(kMost);
  call.check(most >= 0, "maxOutputSize was {}, 0 and more are allowed", most);
  const double overlap = call.number(kOverlap);
  call.check(overlap >= 0 && overlap <= 1, "iouThreshold was {}, 0 to 1 is allowed", overlap);
  call.convert_input(0, DType::kFloat32);
  call.convert_input(1, DType::kFloat32);
  call.params(SuppressionParams{
      .boxes = boxes.dims()[0], .most = most, .overlap = overlap, .score = call.number(kScore)});
}

void padded(OpCall& call) {
  suppression(call);
  call.params<SuppressionParams>().pad =
      call.boolean(attribute_at("NonMaxSuppressionV4", "padToMaxOutputSize"));
}

void soft(OpCall& call) {
  const double sigma = call.number(attribute_at("NonMaxSuppressionV5", "softNmsSigma"));
  call.check(sigma >= 0 && sigma <= 1, "softNmsSigma was {}, 0 to 1 is allowed", sigma);
  suppression(call);
  call.params<SuppressionParams>().sigma = sigma;
}

}  // namespace

void add_suppression(MeaningTable& table) {
  table.set(op_id("NonMaxSuppressionV3"), suppression);
  table.set(op_id("NonMaxSuppressionV4"), padded);
  table.set(op_id("NonMaxSuppressionV5"), soft);
}

}  // namespace ebb::ops
