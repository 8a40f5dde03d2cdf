// Parallel loops of Ebb's own kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/team.hpp"

namespace ebb::cpu {

// Waking the team costs some ten microseconds; work below this many touched bytes (or flops) per
// thread is not worth it.
inline constexpr std::int64_t kGrainElements = 32 * 1024;

// Calls body(begin, end) for parts that together cover [0, count), on as many threads as have at
// least `grain` items each: a loop of less than two grains runs on the calling thread, without
// touching the team.
//
//   parallel_for(rows, grain_for(columns), [&](std::int64_t begin, std::int64_t end) { ... });
template <typename Body>
void parallel_for(std::int64_t count, std::int64_t grain, Body&& body) {
  if (count < 2 * grain || count < 2) {
    if (count > 0) {
      body(std::int64_t{0}, count);
    }
    return;
  }
  const std::int64_t useful = count / std::max<std::int64_t>(grain, 1);
  const int threads = static_cast<int>(std::min<std::int64_t>(Team::size(), useful));
  if (threads <= 1) {
    body(std::int64_t{0}, count);
    return;
  }
  struct Loop {
    std::remove_reference_t<Body>* body;
    std::int64_t count;
  } loop{&body, count};
  Team::run(
      threads,
      [](void* data) {
        auto* shared = static_cast<Loop*>(data);
        const Team::Part part = Team::part();
        const std::int64_t begin = shared->count * part.index / part.count;
        const std::int64_t end = shared->count * (part.index + 1) / part.count;
        if (begin < end) {
          (*shared->body)(begin, end);
        }
      },
      &loop);
}

// The grain of a loop whose items each touch `elements` elements.
constexpr std::int64_t grain_for(std::int64_t elements) {
  return std::max<std::int64_t>(1, kGrainElements / std::max<std::int64_t>(elements, 1));
}

}  // namespace ebb::cpu
