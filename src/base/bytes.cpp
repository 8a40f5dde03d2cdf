#include "ebb/base/bytes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "ebb/base/error.hpp"

namespace ebb {
namespace {

constexpr std::array<std::string_view, 5> kUnits{"B", "KB", "MB", "GB", "TB"};

[[noreturn]] void reject(std::string_view text) {
  raise(ErrorKind::kInvalidArgument,
        "[bytes] \"{}\" is not an amount of memory; write a number and a unit, as in 2GB, 512MB, "
        "1.5GB or 1048576",
        text);
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// The power of 1024 that a unit stands for; -1 if it is none.
int power_of(std::string_view unit) {
  std::string u = lowered(unit);
  if (u.empty() || u == "b" || u == "byte" || u == "bytes") return 0;
  const auto power = std::string_view("kmgt").find(u.front());
  if (power == std::string_view::npos) return -1;
  const std::string_view rest = std::string_view(u).substr(1);
  return rest.empty() || rest == "b" || rest == "ib" ? static_cast<int>(power) + 1 : -1;
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  const std::string_view body = trimmed(text);
  double number = 0;
  const auto [end, error] =
      std::from_chars(body.data(), body.data() + body.size(), number, std::chars_format::fixed);
  if (error != std::errc() || number < 0) reject(text);
  const std::string_view unit =
      trimmed({end, static_cast<std::size_t>(body.data() + body.size() - end)});
  const int power = power_of(unit);
  if (power < 0) reject(text);
  const double bytes = std::ldexp(number, 10 * power);
  if (!(bytes < 9e18)) reject(text);
  return static_cast<std::uint64_t>(bytes);
}

std::string format_bytes(std::uint64_t bytes) {
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 999.5 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    ++unit;
  }
  const int digits = unit == 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", amount, digits, kUnits[unit]);
}

}  // namespace ebb
