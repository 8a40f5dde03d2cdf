// The report as one HTML file that needs nothing else: cli/page has its parts, README.md there says
// what is in the data.
#pragma once

#include <string>
#include <vector>

#include "cli/analysis.hpp"
#include "cli/history.hpp"

namespace ebb::cli {

// A recording with what became of it over time.
struct Played {
  explicit Played(const std::string& path, const Span& span = {})
      : history(span), analysis(path, &history) {
    history.finish(analysis.replay.end());
  }
  Played(const History& so_far, const Analysis& now) : history(so_far), analysis(now) {
    history.finish(analysis.replay.end());
  }
  History history;
  Analysis analysis;
  bool overview =
      false;  // without its events: what devices held over time, and who lives at the end
};

// One recording, or two to be compared, the earlier first. JSON. `live`: ask again, there will be
// more.
std::string page_data(const std::vector<const Played*>& recordings, bool live = false);
std::string page_html(const std::vector<const Played*>& recordings);
// The page without data: it asks whoever served it.
std::string page_that_asks();

}  // namespace ebb::cli
