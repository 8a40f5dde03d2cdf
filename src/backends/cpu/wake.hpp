// How long the team's threads take to wake on this machine: what work that is shared must be worth.
#pragma once

namespace ebb::cpu {

// From asleep to the end of an empty loop, in microseconds: 10 to 60 on machines that were met. Measured at the first
// call of a thread that has a team, which takes about 1 ms; the same from then on. kUsualWake for one that has none (Team::available).
double wake_microseconds() noexcept;
inline constexpr double kUsualWake = 15;

}  // namespace ebb::cpu
