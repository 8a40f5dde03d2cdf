#include "cli/shown_text.hpp"

#include <fmt/core.h>

#include <cstdint>

namespace ebb::cli {
namespace {

struct Character {
  std::uint32_t code = 0xFFFD;
  std::size_t bytes = 1;
  bool valid = false;
};

// One character of UTF-8; a byte that begins none is one by itself.
Character next(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = first & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {code, bytes, true};
}

bool turns_writing(std::uint32_t code) {
  return code == 0x061C || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

std::string shown_character(const Character& c, std::string_view as_given) {
  if (!c.valid) return "\xEF\xBF\xBD";
  if (c.code == '\n') return "\\n";
  if (c.code == '\r') return "\\r";
  if (c.code == '\t') return "\\t";
  if (c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0)) return fmt::format("\\x{:02x}", c.code);
  if (turns_writing(c.code)) return fmt::format("\\u{:04x}", c.code);
  return std::string(as_given);
}

}  // namespace

std::string shown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character c = next(text);
    out += shown_character(c, text.substr(0, c.bytes));
    text.remove_prefix(c.bytes);
  }
  return out;
}

std::string shown_in_markdown(std::string_view text) {
  std::string out;
  for (const char c : shown(text)) {
    constexpr std::string_view kMeaningful = "\\`*_{}[]()#+!|<>&~@$";
    if (kMeaningful.find(c) != std::string_view::npos) {
      out += fmt::format("&#{};", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string escaped_for_annotation(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    const bool escaped = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    if (escaped) {
      out += fmt::format("%{:02X}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace ebb::cli
