// A file's own words in an error: as many as a reader needs, whatever the file holds.
#pragma once

#include <string>
#include <string_view>

namespace ebb::io {

// The text, or its first 80 bytes (to the last whole character of UTF-8) and "...".
std::string excerpt(std::string_view text);

}  // namespace ebb::io
