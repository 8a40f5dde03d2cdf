// Extents as layers speak of them.
#pragma once

#include <span>

#include "ebb/base/error.hpp"
#include "ebb/nn/initial.hpp"

namespace ebb::nn {

inline Dims dims_of(const Tensor& x) {
  const Shape shape = x.shape();
  return {shape.dims().begin(), shape.dims().end()};
}

// Throws where x does not have so many axes.
inline Dims dims_of(const Tensor& x, std::size_t rank, std::string_view layer) {
  Dims dims = dims_of(x);
  if (dims.size() != rank) {
    raise(ErrorKind::kInvalidArgument, "[nn::{}] x of shape {} was given, rank {} is allowed",
          layer, x.shape().to_string(), rank);
  }
  return dims;
}

}  // namespace ebb::nn
