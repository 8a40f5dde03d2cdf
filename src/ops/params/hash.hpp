// One number for the layout of every parameter struct, and for the ids that are not in the table: what two compilers must
// agree on before they hand such structs to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ops/params/convolutions.hpp"
#include "ops/params/elementwise.hpp"
#include "ops/params/images.hpp"
#include "ops/params/indexing.hpp"
#include "ops/params/movement.hpp"
#include "ops/params/optimizers.hpp"
#include "ops/params/pooling.hpp"
#include "ops/params/products.hpp"
#include "ops/params/program_ops.hpp"
#include "ops/params/reductions.hpp"
#include "ops/params/sorting.hpp"
#include "ops/params/suppression.hpp"

namespace ebb::ops {

namespace detail {

template <typename... Params>
consteval std::uint64_t hash_of_layouts() {
  static_assert((std::is_standard_layout_v<Params> && ...));
  static_assert((std::is_trivially_copyable_v<Params> && ...));
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::size_t number :
       {sizeof(Params)..., alignof(Params)..., std::size_t{kChain}, std::size_t{kNormFactors},
        std::size_t{kNormedConvolution}, std::size_t{kNormedDepthwise}, std::size_t{kRowNorm}}) {
    hash = (hash ^ number) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace detail

// Every struct that a meaning leaves for its kernel.
inline constexpr std::uint64_t kParamsHash =
    detail::hash_of_layouts<Loops<1>, Loops<2>, Loops<3>, ReduceParams, ScanParams, MoveParams,
                            TwoMovesParams, PartsParams, MirrorParams, GatherParams, NdParams,
                            TopKParams, UniqueParams, SearchParams, ResizeParams, CropParams,
                            RotateParams, TransformParams, Product, Convolution, Pooling,
                            SuppressionParams, AdamParams, SgdParams, MomentumParams, AdagradParams,
                            AdadeltaParams, AdamaxParams, RmsPropParams>();

}  // namespace ebb::ops
