// The files of cli/page, as the build put them into the tool.
#pragma once

#include <string_view>

namespace ebb::cli {

extern const std::string_view kPageHtml;
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;  // all scripts, in their order

}  // namespace ebb::cli
