#include "ebb/memory/site_table.hpp"

#include <memory>

#include "base/fork.hpp"

namespace ebb {

SiteTable& SiteTable::instance() {
  static SiteTable* table = [] {
    static constinit ForkHook hook{ForkRank::kTables, []() noexcept { instance().mutex_.lock(); },
                                   []() noexcept { instance().mutex_.unlock(); },
                                   []() noexcept { instance().mutex_.unlock(); }};
    at_fork(hook);
    return std::make_unique<SiteTable>().release();  // outlives the statics
  }();
  return *table;
}

// Made when the library is loaded: a fork while another thread is making it would leave the child
// waiting for that.
[[maybe_unused]] static const SiteTable& g_made_at_load = SiteTable::instance();

SiteId SiteTable::intern(std::string_view text) {
  if (text.empty()) return 0;
  std::lock_guard guard(mutex_);
  if (const auto known = ids_.find(text); known != ids_.end()) return known->second;
  texts_.emplace_back(text);
  const auto site = static_cast<SiteId>(texts_.size());
  try {
    ids_.emplace(texts_.back(), site);
  } catch (...) {
    texts_.pop_back();
    throw;
  }
  return site;
}

std::string_view SiteTable::text(SiteId site) const {
  std::lock_guard guard(mutex_);
  return site == 0 || site > texts_.size() ? std::string_view() : texts_[site - 1];
}

std::size_t SiteTable::size() const {
  std::lock_guard guard(mutex_);
  return texts_.size();
}

std::string_view first_frame(std::string_view text) noexcept {
  return text.substr(0, text.find('\n'));
}

}  // namespace ebb
