// How long it takes to launch a kernel that does nothing, through the driver alone.
#pragma once

#include <optional>

namespace ebb::bench {

// Microseconds a launch, `times` of them queued one after the other and waited for. None: no
// driver.
std::optional<double> bare_launch_us(int times);

}  // namespace ebb::bench
