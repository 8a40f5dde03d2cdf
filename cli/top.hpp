// A running process in a terminal: what its devices hold against their budget, which places grow.
#pragma once

#include <string>

#include "cli/analysis.hpp"

namespace ebb::cli {

struct Screen {
  std::size_t columns = 80, rows = 24;
};

// One picture, lines no longer than the screen is wide and no more than it has. Plain text.
std::string top_picture(const Analysis& analysis, Screen screen, bool over);

struct TopOptions {
  std::int64_t pid = 0;  // 0: the only one there is
  double seconds = 1;    // between pictures
  bool once = false;
};
// Draws until `q`, Ctrl-C or the end of the process. Where it does not write to a terminal: one
// picture, as with `once`.
void run_top(const TopOptions& options);

}  // namespace ebb::cli
