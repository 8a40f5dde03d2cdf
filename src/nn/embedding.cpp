#include "ebb/nn/embedding.hpp"

#include "ebb/ops/functions.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {
namespace {

void check_are_whole(const Tensor& ids) {
  switch (ids.dtype()) {
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint8:
    case DType::kInt8:
      return;
    default:
      refuse_dtype("Embedding", ids, "int32, int64, uint8 or int8");
  }
}

}  // namespace

Embedding::Embedding(std::int64_t count, std::int64_t width)
    : embeddings(uniform({count, width}, 0.05), "embeddings") {}

Tensor Embedding::operator()(const Tensor& ids) {
  check_are_whole(ids);
  return ops::gather_v2(embeddings, as_int32(ids));
}

void Embedding::parts(Parts& parts) { parts.weight("embeddings", embeddings); }

}  // namespace ebb::nn
