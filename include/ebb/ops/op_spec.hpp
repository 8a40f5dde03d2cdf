// What a row of the table of operations says: ebb/ops/table.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

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
};

inline constexpr std::size_t kMostAttributes = 8;
inline constexpr std::uint8_t kAny = 255;  // no upper limit on inputs; outputs: the call decides

struct OpSpec {
  OpId id;
  std::string_view name;
  std::uint8_t least_inputs;
  std::uint8_t most_inputs;
  std::uint8_t outputs;
  std::array<Attribute, kMostAttributes> attributes{};

  constexpr std::size_t attribute_count() const noexcept {
    std::size_t count = 0;
    while (count < kMostAttributes && attributes[count].type != AttributeType::kNone) ++count;
    return count;
  }
};

namespace detail {

constexpr Attribute boolean(std::string_view name) { return {name, AttributeType::kBoolean}; }
constexpr Attribute integer(std::string_view name) { return {name, AttributeType::kInteger}; }
constexpr Attribute number(std::string_view name) { return {name, AttributeType::kNumber}; }
constexpr Attribute dtype(std::string_view name) { return {name, AttributeType::kDType}; }
constexpr Attribute integers(std::string_view name) { return {name, AttributeType::kIntegers}; }
constexpr Attribute numbers(std::string_view name) { return {name, AttributeType::kNumbers}; }

}  // namespace detail

}  // namespace ebb::ops
