// Seeds of randomised tests: fixed in an ordinary run, another for each round of a soak, always
// printed.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace ebb::test {

template <typename... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print("note: {}\n", fmt::format(format, std::forward<Args>(args)...));
  std::fflush(stdout);
}

// `base` tells the seeds of one run apart. EBB_SEED, where it is set, is the seed: to see one
// again.
inline std::uint64_t seed_for(std::string_view what, std::uint64_t base) {
  const auto round = static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed));  // 0 unless given
  const char* chosen = std::getenv("EBB_SEED");
  const std::uint64_t seed =
      chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : base + round * 1000003;
  note("{}: seed {}", what, seed);
  return seed;
}

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

inline double seconds_from_environment(const char* name, double otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtod(value, nullptr);
}

}  // namespace ebb::test
