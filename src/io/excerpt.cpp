#include "io/excerpt.hpp"

#include <cstddef>

namespace ebb::io {

std::string excerpt(std::string_view text) {
  constexpr std::size_t kMost = 80, kLongestCharacter = 4;
  if (text.size() <= kMost) return std::string(text);
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  std::size_t end = kMost;
  while (end > kMost - kLongestCharacter && continues(end)) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace ebb::io
