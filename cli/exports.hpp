// A recording as other tools read it. Places are stacks; values are bytes.
#pragma once

#include <string>

#include "cli/analysis.hpp"

namespace ebb::cli {

std::string to_collapsed(const Analysis& analysis, Value value);
std::string to_speedscope(const Analysis& analysis, Value value);
std::string to_heapprofile(const Analysis& analysis, Value value);
// All values at once: inuse_objects, inuse_space, alloc_objects, alloc_space.
std::string to_pprof(const Analysis& analysis);
// Counters over time, marks as instants.
std::string to_perfetto(const Analysis& analysis);

}  // namespace ebb::cli
