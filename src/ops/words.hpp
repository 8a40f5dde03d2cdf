// Attributes that stand for words.
#pragma once

#include <string>

#include "ops/op_call.hpp"

namespace ebb::ops {

// "0 (bilinear), 1 (nearest)"
std::string listed(const WordList& words);

// The attribute as the enumerator of its word. Throws where it is none's position.
template <typename Word>
Word checked_word(const OpCall& call, std::size_t attribute) {
  const Attribute& given = call.spec().attributes[attribute];
  const std::int64_t position = call.integer(attribute);
  if (position < 0 || position >= static_cast<std::int64_t>(given.words->size())) {
    call.fail("{} was {}, {} are allowed", given.name, position, listed(*given.words));
  }
  return static_cast<Word>(position);
}

}  // namespace ebb::ops
