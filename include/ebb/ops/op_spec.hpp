// What a row of the table of operations says: ebb/ops/table.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ebb/ops/words.hpp"

namespace ebb::ops {

using OpId = std::uint32_t;  // 0 is none

enum class AttributeType : std::uint8_t {
  kNone,
  kBoolean,
  kInteger,
  kNumber,
  kDType,
  kIntegers,
  kNumbers
};

struct Attribute {
  std::string_view name{};
  AttributeType type = AttributeType::kNone;
  // What it is where a caller says nothing: "2", "0.5", "true", "float32", "[1,1]", a word. Empty:
  // it has to be given. Over the C ABI all attributes are given.
  std::string_view fallback{};
  // An integer, or a list of them, that stands for words: their positions.
  const WordList* words = &detail::kNoWords;

  constexpr bool has_words() const noexcept { return words->size() != 0; }
};

inline constexpr std::size_t kMostInputs = 5;  // with names of their own
inline constexpr std::size_t kMostAttributes = 8;
inline constexpr std::uint8_t kAny = 255;  // no upper limit on inputs; outputs: the call decides

// A row as it is counted.
struct OpSpec {
  OpId id = 0;
  std::string_view name{};
  std::uint8_t least_inputs = 0;
  std::uint8_t most_inputs = 0;
  std::uint8_t outputs = 1;
  std::array<std::string_view, kMostInputs> inputs{};  // with their '?' and '*'
  std::array<Attribute, kMostAttributes> attributes{};

  constexpr std::size_t attribute_count() const noexcept {
    std::size_t count = 0;
    while (count < kMostAttributes && attributes[count].type != AttributeType::kNone) ++count;
    return count;
  }
  constexpr std::size_t input_count() const noexcept {
    std::size_t count = 0;
    while (count < kMostInputs && !inputs[count].empty()) ++count;
    return count;
  }
};

namespace detail {

// A row as it is written.
struct Row {
  OpId id;
  std::string_view name;
  std::array<std::string_view, kMostInputs> inputs{};
  std::array<Attribute, kMostAttributes> attributes{};
  std::uint8_t outputs = 1;
};

constexpr Attribute boolean(std::string_view name, std::string_view fallback = {}) {
  return {name, AttributeType::kBoolean, fallback};
}
constexpr Attribute integer(std::string_view name, std::string_view fallback = {}) {
  return {name, AttributeType::kInteger, fallback};
}
constexpr Attribute number(std::string_view name, std::string_view fallback = {}) {
  return {name, AttributeType::kNumber, fallback};
}
constexpr Attribute dtype(std::string_view name, std::string_view fallback = {}) {
  return {name, AttributeType::kDType, fallback};
}
constexpr Attribute integers(std::string_view name, std::string_view fallback = {}) {
  return {name, AttributeType::kIntegers, fallback};
}
constexpr Attribute numbers(std::string_view name, std::string_view fallback = {}) {
  return {name, AttributeType::kNumbers, fallback};
}
constexpr Attribute word(std::string_view name, const WordList& words,
                         std::string_view fallback = {}) {
  return {name, AttributeType::kInteger, fallback, &words};
}
// A list of words.
constexpr Attribute words(std::string_view name, const WordList& words) {
  return {name, AttributeType::kIntegers, {}, &words};
}

}  // namespace detail

}  // namespace ebb::ops
