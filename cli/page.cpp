#include "cli/page.hpp"

#include <sys/random.h>

#include <array>

#include "cli/page_parts.hpp"
#include "ebb/base/error.hpp"

namespace ebb::cli {
namespace {

// In a script element nothing but `</script` and `<!--` has a meaning, and both begin with this.
std::string without_tags(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

// What this page runs carries it; nobody who wrote a name into the recording could know it.
std::string new_nonce() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  // Not std::random_device: gcc's needs a C library of 2022.
  std::array<unsigned char, 32> random;
  if (getrandom(random.data(), random.size(), 0) != std::ssize(random)) {
    raise(ErrorKind::kDevice, "[ebb] no random numbers");
  }
  std::string text;
  for (const unsigned char each : random) text += kDigits[each % 16];
  return text;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

namespace {

std::string page_around(const std::string& data, std::string_view connect) {
  std::string html(kPageHtml);
  replace_all(html, "@STYLE@", kPageStyle);
  replace_all(html, "@SCRIPT@", kPageScript);
  replace_all(html, "@NONCE@", new_nonce());
  replace_all(html, "@CONNECT@", connect);
  // Last: nothing is looked for in it.
  constexpr std::string_view kData = "@DATA@";
  return html.replace(html.find(kData), kData.size(), data);
}

}  // namespace

std::string page_html(const std::vector<const Played*>& recordings) {
  return page_around(without_tags(page_data(recordings)), "'none'");
}

std::string page_that_asks() { return page_around("null", "'self'"); }

}  // namespace ebb::cli
