// Every live tensor of every context and what the books say of a device, for whoever keeps count
// elsewhere. Looking changes nothing: no notice of a death is taken, so that a program runs as it
// would without being looked at.
#pragma once

#include <array>
#include <functional>

#include "ebb/base/shape.hpp"
#include "ebb/memory/ledger.hpp"
#include "ebb/memory/trace_event.hpp"

namespace ebb {

class Device;

struct LiveRow {
  TraceEvent birth;  // as if it were now: kTensorBorn, without kWithStorage
  std::uint8_t rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
};

// A thousand records for each time a context's lock is taken; `use` is called without it. What is
// born or ends meanwhile is among them or not.
void for_each_live_tensor(const std::function<void(const LiveRow&)>& use);

// Of all contexts, ended ones included.
Books books_as_they_are(const Device& device);
// Orphans whose notices have been taken.
std::uint64_t orphans_waiting();

}  // namespace ebb
