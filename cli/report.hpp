// What a recording says, in a terminal: flat or growing, how fast, and which line made it.
#pragma once

#include <cstdint>
#include <string>

#include "cli/analysis.hpp"

namespace ebb::cli {

// The first sentence; one for each place that grows after it.
std::string verdict(const Analysis& analysis);
std::string report_text(const Analysis& analysis, std::size_t top);
std::string report_json(const Analysis& analysis, std::size_t top);
// What holds the tensors of the places whose text has `part` in it; "": of those that grow. Throws
// Error(kInvalidArgument) where there is no such place.
std::string why_text(const Analysis& analysis, const std::string& part);
std::string diff_text(const Analysis& before, const Analysis& after, std::size_t top);

}  // namespace ebb::cli
