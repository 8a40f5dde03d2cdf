// The half of SimulatedDevice that judges: is this work allowed to touch what it touches, now?
#include <algorithm>

#include "ebb/memory/simulated_device.hpp"

namespace ebb {
namespace {

bool overlap(const SimulatedDevice::Touch& a, const SimulatedDevice::Touch& b) {
  return a.base < b.base + b.bytes && b.base < a.base + a.bytes;
}

bool conflict(const SimulatedDevice::Touch& a, const SimulatedDevice::Touch& b) {
  using Access = SimulatedDevice::Access;
  return overlap(a, b) && (a.access == Access::kWrite || b.access == Access::kWrite);
}

}  // namespace

void SimulatedDevice::detect(StreamId stream, const Work& work) {
  detect_uncommitted(stream, work);
  for (StreamId id = 0; id < kMaxStreams; ++id) {
    if (id == stream) continue;
    for (const Work& earlier : streams_[id].queue) {
      if (earlier.ticket <= streams_[stream].after[id]) continue;  // ordered before us
      detect_conflict(stream, work, id, earlier);
    }
  }
}

void SimulatedDevice::detect_uncommitted(StreamId stream, const Work& work) {
  const Event now{stream, streams_[stream].submitted + 1};
  for (const Touch& touch : work.touches)
    if (!covered(touch))
      violations_.push_back({now, now, touch.base, "touches memory not committed"});
}

void SimulatedDevice::detect_conflict(StreamId stream, const Work& work, StreamId other,
                                      const Work& earlier) {
  const Event now{stream, streams_[stream].submitted + 1};
  for (const Touch& mine : work.touches)
    for (const Touch& theirs : earlier.touches)
      if (conflict(mine, theirs))
        violations_.push_back({{other, earlier.ticket},
                               now,
                               std::max(mine.base, theirs.base),
                               "touches memory that unfinished work of another stream touches"});
}

bool SimulatedDevice::covered(const Touch& touch) const {
  const std::byte* at = touch.base;
  while (at < touch.base + touch.bytes) {
    auto it = committed_ranges_.upper_bound(at);
    if (it == committed_ranges_.begin()) return false;
    --it;
    if (at >= it->first + it->second) return false;
    at = it->first + it->second;
  }
  return true;
}

}  // namespace ebb
