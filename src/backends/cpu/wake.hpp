// How long the team's threads take to wake on this machine: what work that is shared must be worth.
#pragma once

namespace ebb::cpu {

// From asleep to the end of an empty loop, in microseconds: up to 60 on machines that were met. No less than kUsualWake, which
// grains are for: so much also where the team does not sleep or a run of it is its caller alone, and for a thread that has no team
// (Team::available). Measured at the first call of a thread that has one, which takes about 1 ms; the same from then on,
// whatever that told.
double wake_microseconds() noexcept;
inline constexpr double kUsualWake = 15;

}  // namespace ebb::cpu
