// Text from a recording, made fit to be shown. Names come from programs, and so from whoever wrote
// their input: what a terminal, a browser or another tool would obey is written out instead.
#pragma once

#include <string>
#include <string_view>

namespace ebb::cli {

// Control characters (escape sequences begin with one), line ends and what turns the direction of
// writing become \x1b, \n, \u202e; what is not UTF-8 becomes U+FFFD.
std::string shown(std::string_view text);
// The same, without what has a meaning in HTML and Markdown.
std::string shown_in_markdown(std::string_view text);
// For GitHub's commands: `%`, line ends, and in a property also `:` and `,`.
std::string escaped_for_annotation(std::string_view text, bool property);

}  // namespace ebb::cli
