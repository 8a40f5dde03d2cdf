// The words that attributes take, and what C++ calls them. Over the C ABI a word is its position.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ebb::ops {

enum class Activation : std::uint8_t {
  kLinear,
  kRelu,
  kRelu6,
  kElu,
  kPrelu,  // its weights are the last input
  kLeakyrelu,
  kSigmoid
};
enum class Interpolation : std::uint8_t { kBilinear, kNearest };
enum class FillMode : std::uint8_t { kConstant, kReflect, kWrap, kNearest };
enum class MirrorMode : std::uint8_t { kReflect, kSymmetric };
enum class RowPartition : std::uint8_t { kFirstDimSize, kValueRowids, kRowSplits };

inline constexpr std::size_t kMostWords = 8;

// By position: the enumerators of `name`, as hosts write them.
struct WordList {
  std::string_view name;
  std::array<std::string_view, kMostWords> words{};

  constexpr std::size_t size() const noexcept {
    std::size_t count = 0;
    while (count < kMostWords && !words[count].empty()) ++count;
    return count;
  }
};

namespace detail {

inline constexpr WordList kNoWords{};
inline constexpr WordList kActivation{
    "Activation", {"linear", "relu", "relu6", "elu", "prelu", "leakyrelu", "sigmoid"}};
inline constexpr WordList kInterpolation{"Interpolation", {"bilinear", "nearest"}};
inline constexpr WordList kFillMode{"FillMode", {"constant", "reflect", "wrap", "nearest"}};
inline constexpr WordList kMirrorMode{"MirrorMode", {"reflect", "symmetric"}};
inline constexpr WordList kRowPartition{"RowPartition",
                                        {"FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"}};

}  // namespace detail
}  // namespace ebb::ops
