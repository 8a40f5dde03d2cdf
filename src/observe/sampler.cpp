#include "observe/sampler.hpp"

#include <atomic>
#include <cmath>

namespace ebb::observe {
namespace {

constinit std::atomic<Mode> sampling{Mode::kOff};
constinit std::atomic<std::uint64_t> period{kUsualSampleBytes};

// Bytes until the next one is taken, and what the distance after it is drawn from.
constinit thread_local std::int64_t left = 0;
constinit thread_local std::uint64_t state = 0;

double next_uniform() noexcept {
  if (state == 0) state = reinterpret_cast<std::uint64_t>(&state) | 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (static_cast<double>(state >> 11) + 1) * 0x1p-53;
}

[[gnu::noinline]] bool draw_again(double mean) noexcept {
  left = static_cast<std::int64_t>(-std::log(next_uniform()) * mean) + 1;
  return true;
}

}  // namespace

void set_sampling(Mode mode, std::uint64_t sample_bytes) noexcept {
  period.store(sample_bytes, std::memory_order_relaxed);
  sampling.store(mode, std::memory_order_relaxed);
}

bool wants_site(std::uint64_t bytes) noexcept {
  const Mode mode = sampling.load(std::memory_order_relaxed);
  if (mode != Mode::kSampled) return mode == Mode::kFull;
  const std::uint64_t mean = period.load(std::memory_order_relaxed);
  if (bytes >= mean) return true;
  if (state == 0) [[unlikely]]
    draw_again(static_cast<double>(mean));  // the thread's first
  left -= static_cast<std::int64_t>(bytes + kNameBytes);
  return left <= 0 && draw_again(static_cast<double>(mean));
}

double weight_of(std::uint64_t bytes, std::uint64_t sample_bytes) noexcept {
  if (sample_bytes == 0 || bytes >= sample_bytes) return 1;
  const double size = static_cast<double>(bytes) + static_cast<double>(kNameBytes);
  return -1 / std::expm1(-size / static_cast<double>(sample_bytes));
}

}  // namespace ebb::observe
