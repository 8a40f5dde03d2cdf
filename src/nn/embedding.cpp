#include "ebb/nn/embedding.hpp"

#include <limits>

#include "ebb/ops/functions.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {
namespace {

// As operations take them: beyond int32 are the ends of it, which name no row either.
Tensor narrowed(const Tensor& ids) {
  using Limits = std::numeric_limits<std::int32_t>;
  switch (ids.dtype()) {
    case DType::kInt32:
    case DType::kUint8:
    case DType::kInt8:
      return ids;
    case DType::kInt64:
      return ops::cast(ops::clip_by_value(ids, Limits::min(), Limits::max()), DType::kInt32);
    default:
      refuse_dtype("Embedding", ids, "int32, int64, uint8 or int8");
  }
}

}  // namespace

Embedding::Embedding(std::int64_t count, std::int64_t width)
    : embeddings(uniform({count, width}, 0.05), "embeddings") {}

Tensor Embedding::operator()(const Tensor& ids) {
  return ops::gather_v2(embeddings, narrowed(ids));
}

void Embedding::parts(Parts& parts) { parts.weight("embeddings", embeddings); }

}  // namespace ebb::nn
