// Shapes and lists in messages: as arguments of call.check they cost nothing until it fails.
#pragma once

#include <fmt/format.h>

#include "ebb/base/shape.hpp"
#include "ops/int_list.hpp"

template <>
struct fmt::formatter<ebb::Shape> : fmt::formatter<std::string> {
  auto format(const ebb::Shape& shape, fmt::format_context& context) const {
    return fmt::formatter<std::string>::format(shape.to_string(), context);
  }
};

template <>
struct fmt::formatter<ebb::ops::IntList> : fmt::formatter<std::string> {
  auto format(const ebb::ops::IntList& list, fmt::format_context& context) const {
    return fmt::formatter<std::string>::format(ebb::dims_to_string(list), context);
  }
};
