// Places: a site's text is a frame a line, innermost first, as its host wrote it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::cli {

// `handle (/srv/app.js:42:7)`, `com.acme.Main.run(Main.java:12)`, `/srv/app.js:42:7`: what is found in them.
struct Frame {
  std::string text{};      // as given
  std::string function{};  // "" if there is none
  std::string file{};
  std::uint32_t line = 0, column = 0;  // 0: not known
};

Frame parse_frame(std::string_view text);
// Innermost first. Never empty: no text is one frame that says so.
std::vector<Frame> frames_of(std::string_view site);

}  // namespace ebb::cli
