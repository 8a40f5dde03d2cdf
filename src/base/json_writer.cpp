#include "base/json_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace ebb {
namespace {

constexpr std::string_view kReplacement = "\\ufffd";

// Bytes of the well-formed UTF-8 sequence at the front; 0 if there is none (RFC 3629).
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) noexcept {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;  // no overlong forms
  const unsigned most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;   // no surrogates
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

// How a single character is written; empty: as it is.
std::string_view short_escape(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return {};
  }
}

}  // namespace

void JsonWriter::separate() {
  if (comma_) out_ += ',';
  if (new_line_) out_ += '\n';
  new_line_ = false;
  comma_ = true;
}

void JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  comma_ = false;
}

void JsonWriter::close(char bracket) {
  if (new_line_) out_ += '\n';
  new_line_ = false;
  out_ += bracket;
  comma_ = true;
}

void JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out_ += ':';
  comma_ = false;
}

void JsonWriter::plain(std::string_view text) {
  separate();
  out_ += text;
}

void JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
}

void JsonWriter::value(double number) {
  separate();
  if (!std::isfinite(number)) number = 0;
  fmt::format_to(std::back_inserter(out_), "{}", number);
}

void JsonWriter::integer(std::uint64_t number) {
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", number);
}

void JsonWriter::integer(std::int64_t number) {
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", number);
}

void JsonWriter::quote(std::string_view text) {
  out_ += '"';
  while (!text.empty()) {
    const char c = text.front();
    std::size_t taken = sequence_length(text);
    if (taken == 0) {
      out_ += kReplacement;
      taken = 1;
    } else if (const std::string_view escape = short_escape(c); !escape.empty()) {
      out_ += escape;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out_ += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  out_ += '"';
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace ebb
