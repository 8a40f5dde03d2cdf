#include "cli/frames.hpp"

#include <algorithm>
#include <charconv>

namespace ebb::cli {
namespace {

constexpr std::string_view kUnknown = "(place not known)";

// Takes ":123" off the end.
bool take_number(std::string_view& text, std::uint32_t& number) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return false;
  const char* end = text.data() + text.size();
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, value);
  if (error != std::errc() || stop != end) return false;
  number = value;
  text = text.substr(0, colon);
  return true;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

Frame parse_frame(std::string_view text) {
  Frame frame;
  frame.text = text;
  std::string_view place = trimmed(text);
  const std::size_t open = place.rfind('(');
  if (!place.empty() && place.back() == ')' && open != std::string_view::npos) {
    frame.function = trimmed(place.substr(0, open));
    place = place.substr(open + 1, place.size() - open - 2);
  }
  std::uint32_t last = 0;
  if (!take_number(place, last)) {
    if (frame.function.empty()) frame.function = trimmed(text);
    return frame;
  }
  if (take_number(place, frame.line)) {
    frame.column = last;
  } else {
    frame.line = last;
  }
  frame.file = place;
  return frame;
}

std::vector<Frame> frames_of(std::string_view site) {
  std::vector<Frame> frames;
  while (!site.empty()) {
    const std::size_t end = std::min(site.find('\n'), site.size());
    if (end != 0) frames.push_back(parse_frame(site.substr(0, end)));
    site.remove_prefix(std::min(end + 1, site.size()));
  }
  if (frames.empty())
    frames.push_back({.text = std::string(kUnknown), .function = std::string(kUnknown)});
  return frames;
}

}  // namespace ebb::cli
