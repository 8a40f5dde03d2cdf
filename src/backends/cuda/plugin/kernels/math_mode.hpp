// How float32 products and convolutions multiply: exactly, or with fewer bits on tensor cores.
#pragma once

#include <cstdint>
#include <string_view>

namespace ebb::cuda {

enum class MathMode : std::uint8_t { kFloat32, kTf32, kBf16 };
enum class MathUse : std::uint8_t { kProducts, kConvolutions };

MathMode math_mode(int ordinal, MathUse use) noexcept;

// "matmul_math" or "conv_math" to "f32", "tf32" or "bf16"; false for another name or value.
bool set_math_mode(int ordinal, std::string_view name, std::string_view value) noexcept;

}  // namespace ebb::cuda
