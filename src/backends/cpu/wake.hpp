// How long the team's threads take to wake on this machine: what work that is shared must be worth.
#pragma once

namespace ebb::cpu {

// From asleep to the end of an empty loop, in microseconds: 10 to 60 on machines that were met. Measured at the first
// call, which takes about 1 ms and loads the team; the same from then on.
double wake_microseconds();

}  // namespace ebb::cpu
