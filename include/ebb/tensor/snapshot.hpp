// Everything the books know, written to a file that other programs can read: docs/snapshot.md.
#pragma once

#include <string>

namespace ebb {

// Written beside `path` and renamed, so that nobody ever sees half a snapshot. Other threads go on;
// where they make and end tensors meanwhile, the sums are only nearly those of one moment. Throws
// Error(kDevice) with the path and what the system said.
void write_snapshot(const std::string& path);

}  // namespace ebb
