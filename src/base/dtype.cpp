#include "ebb/base/dtype.hpp"

#include <array>

namespace ebb {
namespace {

struct Facts {
  std::string_view name;
  std::size_t size;
};

constexpr std::array<Facts, 12> kFacts{{{"unknown", 0},
                                        {"float32", 4},
                                        {"int32", 4},
                                        {"bool", 1},
                                        {"complex64", 8},
                                        {"float64", 8},
                                        {"int64", 8},
                                        {"uint8", 1},
                                        {"float16", 2},
                                        {"bfloat16", 2},
                                        {"int8", 1},
                                        {"string", 0}}};

const Facts& facts_of(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return kFacts[index < kFacts.size() ? index : 0];
}

}  // namespace

std::size_t size_of(DType dtype) noexcept { return facts_of(dtype).size; }
std::string_view name_of(DType dtype) noexcept { return facts_of(dtype).name; }
bool is_dtype(std::uint32_t value) noexcept { return value > 0 && value < kFacts.size(); }

}  // namespace ebb
