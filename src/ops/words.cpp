#include "ops/words.hpp"

namespace ebb::ops {

std::string listed(const WordList& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", i, words.words[i]);
  }
  return text;
}

}  // namespace ebb::ops
