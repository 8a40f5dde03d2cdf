// What the examples are given on the command line: --help says it, and what is wrong is one line.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

using Arguments = std::span<const char* const>;

// A whole number of 1 or more.
inline int count_of(std::string_view text, std::string_view what) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1) {
    throw std::runtime_error(
        fmt::format("{} is '{}', a whole number of 1 or more is needed", what, text));
  }
  return count;
}

// run(arguments) -> whether all went well. The exit status of main().
template <typename Run>
int run_example(int count, const char* const* given, std::string_view name, std::string_view usage,
                std::size_t most, Run run) try {
  const Arguments arguments = Arguments(given, static_cast<std::size_t>(count)).subspan(1);
  for (const std::string_view each : arguments) {
    if (each == "--help" || each == "-h") {
      fmt::print("{}", usage.substr(1));  // the line that it begins with
      return 0;
    }
    if (each.starts_with('-')) throw std::runtime_error(fmt::format("there is no {}", each));
  }
  if (arguments.size() > most) {
    throw std::runtime_error(
        fmt::format("{} arguments were given, {} at most are known", arguments.size(), most));
  }
  return run(arguments) ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}: {} ({} --help)\n", name, error.what(), name);
  return 1;
}
