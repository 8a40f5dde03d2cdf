#include "ebb/base/dtype.hpp"

#include <array>

namespace ebb {
namespace {

// By value.
constexpr std::array<std::string_view, 12> kNames{"unknown",   "float32",  "int32", "bool",
                                                  "complex64", "float64",  "int64", "uint8",
                                                  "float16",   "bfloat16", "int8",  "string"};

}  // namespace

std::string_view name_of(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return kNames[index < kNames.size() ? index : 0];
}
bool is_dtype(std::uint32_t value) noexcept { return value > 0 && value < kNames.size(); }

}  // namespace ebb
