// The rows of the table of operations, family by family. A row:
//   {id, name, {inputs}, {attributes}, outputs}
//
// The name of an input that may be left out ends in '?'; its handle is 0 where a later one is given.
// One that ends in '*' stands for any number of tensors, at least one. Names are TensorFlow.js's.
// An attribute with a second text has that as its default; one with words takes one of them.
#pragma once

#include "ebb/ops/rows/convolutions.hpp"
#include "ebb/ops/rows/creation.hpp"
#include "ebb/ops/rows/dilation.hpp"
#include "ebb/ops/rows/elementwise.hpp"
#include "ebb/ops/rows/images.hpp"
#include "ebb/ops/rows/indexing.hpp"
#include "ebb/ops/rows/movement.hpp"
#include "ebb/ops/rows/normalisation.hpp"
#include "ebb/ops/rows/optimizers.hpp"
#include "ebb/ops/rows/pooling.hpp"
#include "ebb/ops/rows/products.hpp"
#include "ebb/ops/rows/ragged.hpp"
#include "ebb/ops/rows/reductions.hpp"
#include "ebb/ops/rows/signal.hpp"
#include "ebb/ops/rows/sorting.hpp"
#include "ebb/ops/rows/sparse.hpp"
#include "ebb/ops/rows/suppression.hpp"
#include "ebb/ops/rows/views.hpp"

namespace ebb::ops {

// One partition: a family has its rows in ebb/ops/rows/<name>.hpp, its functions in
// ebb/ops/functions/<name>.hpp, its meanings in src/ops/<name>*.cpp, its kernels in
// src/backends/*/kernels/<name>* and hosts/tfjs/src/backend/kernels/<name>.ts.
struct Family {
  std::string_view name;
  std::string_view what;
  std::span<const detail::Row> rows;
};

inline constexpr auto kFamilies = std::to_array<Family>({
    {"elementwise", "Elementwise operations", detail::kElementwiseRows},
    {"creation", "Tensors made of numbers, constant or random", detail::kCreationRows},
    {"views", "Views", detail::kViewsRows},
    {"movement", "Data that is moved, joined, cut and repeated", detail::kMovementRows},
    {"indexing", "Gathers and scatters", detail::kIndexingRows},
    {"reductions", "Reductions, scans and counts", detail::kReductionsRows},
    {"sorting", "Sorting and searching", detail::kSortingRows},
    {"images", "Images", detail::kImagesRows},
    {"suppression", "Boxes, of which those that overlap are left out", detail::kSuppressionRows},
    {"signal", "Signals", detail::kSignalRows},
    {"sparse", "Sparse tensors", detail::kSparseRows},
    {"ragged", "Ragged tensors", detail::kRaggedRows},
    {"products", "Matrix products", detail::kProductsRows},
    {"convolutions", "Convolutions", detail::kConvolutionsRows},
    {"dilation", "Grayscale dilation", detail::kDilationRows},
    {"pooling", "Poolings", detail::kPoolingRows},
    {"normalisation", "Normalisations", detail::kNormalisationRows},
    {"optimizers", "Updates of optimizers", detail::kOptimizersRows},
});

}  // namespace ebb::ops
