// Creation sites: stacks as the host writes them, interned. The same text gives the same id.
//
// Process-wide and only growing: a program has as many sites as it has places that make tensors.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ebb/memory/names.hpp"

namespace ebb {

class SiteTable {
 public:
  static SiteTable& instance();

  // Throws std::bad_alloc; then nothing has changed. Empty text is site 0.
  SiteId intern(std::string_view text);
  // Valid for ever. "" for 0 and for ids that were never given out.
  std::string_view text(SiteId site) const;
  bool knows(SiteId site) const { return site <= size(); }
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> texts_;  // stable addresses; site i is texts_[i - 1]
  std::unordered_map<std::string_view, SiteId> ids_;
};

// The first line: the innermost frame.
std::string_view first_frame(std::string_view text) noexcept;

}  // namespace ebb
