// The head of a .safetensors file: a JSON object with a member for each tensor (dtype, shape,
// data_offsets) and one, __metadata__, with notes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ebb/base/dtype.hpp"
#include "ebb/base/shape.hpp"

namespace ebb::io {

inline constexpr std::string_view kSafetensorsNotes = "__metadata__";

struct SafetensorsEntry {
  std::string name;
  DType dtype;
  Shape shape;
  std::uint64_t begin, end;  // of its elements in the data
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries{};
  std::map<std::string, std::string> metadata{};
};

// In time linear in the text (but for finding names that come twice). Throws
// Error(kInvalidArgument), Error(kUnsupported) for a dtype that Ebb does not have; what an error
// quotes is short.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> json);

// Throws Error(kUnsupported) where the format has no name for it.
std::string_view safetensors_name(DType dtype);

}  // namespace ebb::io
