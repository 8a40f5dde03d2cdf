#include "ebb/nn/embedding.hpp"

#include "ebb/ops/functions.hpp"

namespace ebb::nn {

Embedding::Embedding(std::int64_t count, std::int64_t width)
    : embeddings(uniform({count, width}, 0.05), "embeddings") {}

Tensor Embedding::operator()(const Tensor& ids) { return ops::gather_v2(embeddings, ids); }

void Embedding::parts(Parts& parts) { parts.weight("embeddings", embeddings); }

}  // namespace ebb::nn
