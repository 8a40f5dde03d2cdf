// Extents as layers speak of them, and what they refuse.
#pragma once

#include <string_view>

#include "ebb/base/error.hpp"
#include "ebb/nn/dense.hpp"

namespace ebb::nn {

inline constexpr std::int64_t kAny = -1;

Dims dims_of(const Tensor& x);

// Each throws Error(kInvalidArgument) that names the layer where x is not like that.
Dims image_dims(const Tensor& x, std::string_view layer, std::int64_t channels = kAny);
Dims sequence_dims(const Tensor& x, std::string_view layer, std::int64_t width);
// Any axes, and `width` after them.
Dims row_dims(const Tensor& x, std::string_view layer, std::int64_t width);
[[noreturn]] void refuse_input(std::string_view layer, const Tensor& x, std::string_view allowed);
[[noreturn]] void refuse_dtype(std::string_view layer, const Tensor& x, std::string_view allowed);

// Whole numbers as operations take them: what is beyond int32 becomes its ends, which name nothing either.
Tensor as_int32(const Tensor& numbers);

// Two numbers, each 1 or more.
void check_window(const Dims& numbers, std::string_view what, std::string_view layer);

// What the initializer gives, which has these extents.
Tensor initial_value(const Initializer& initial, const Dims& dims, std::string_view layer);

}  // namespace ebb::nn
