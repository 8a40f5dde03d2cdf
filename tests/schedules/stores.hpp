// What was stored in one atomic, in its order. Who loads finds the last of it or, where nothing has
// passed a later one on to him, one that is older: that is what a weaker memory model lets happen.
// Nobody goes back behind what he has found before, and who asks for seq_cst does not go back behind
// the last that was stored so. A fence counts as one that asks, for all that its thread loads after it,
// and as one that stores, for all that its thread knew before it.
#pragma once

#include <vector>

#include "schedules/clock.hpp"

namespace ebb::schedules {

struct Store {
  std::uint64_t value = 0;
  std::size_t by = kMostThreads;
  std::uint32_t at = 0;      // the writer's own time
  bool total = false;        // seq_cst
  Clock released{};          // what it passes on
  std::uint64_t number = 0;  // among all stores of the schedule
};

class Stores {
 public:
  // Begins with what is there, where that is not what was stored last: the atomic is another now.
  void begin(std::uint64_t value) {
    if (!all_.empty() && all_.back().value == value) return;
    all_.assign(1, Store{.value = value});
    seen_.fill(0);
  }
  void add(Store store) {
    seen_[store.by] = all_.size();
    all_.push_back(store);
  }
  const Store& last() const noexcept { return all_.back(); }
  // By how much a load may be behind, of a thread that knows so much, and knows the seq_cst stores
  // with a number below that.
  std::size_t most_behind(std::size_t thread, const Clock& known,
                          std::uint64_t total_below) const noexcept {
    const auto is_known = [&](const Store& store) {
      return store.at <= known[store.by] || (store.total && store.number < total_below);
    };
    std::size_t i = all_.size() - 1;
    while (i > seen_[thread] && !is_known(all_[i])) --i;
    return all_.size() - 1 - i;
  }
  const Store& read(std::size_t thread, std::size_t behind) noexcept {
    seen_[thread] = all_.size() - 1 - behind;
    return all_[seen_[thread]];
  }

 private:
  std::vector<Store> all_;
  std::array<std::size_t, kMostThreads + 1> seen_{};  // the latest that each thread has found
};

}  // namespace ebb::schedules
