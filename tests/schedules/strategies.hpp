// The ways in which an Explorer goes through schedules.
#pragma once

#include <algorithm>
#include <random>

#include "schedules/scheduler.hpp"

namespace ebb::schedules {

// Depth first over the decisions, the first choice being to go on without a preemption.
class Exhaustive final : public Strategy {
 public:
  Exhaustive(std::size_t preemptions, bool old_values)
      : most_(preemptions), old_values_(old_values) {}

  void begin(std::size_t) override { at_ = used_ = 0; }

  std::size_t choose(const std::vector<std::size_t>& ready,
                     std::optional<std::size_t> current) override {
    const bool can_stay = current && std::ranges::find(ready, *current) != ready.end();
    std::vector<std::size_t> choices;
    if (can_stay) choices.push_back(*current);
    if (!can_stay || used_ < most_) {
      for (const std::size_t each : ready) {
        if (!can_stay || each != *current) choices.push_back(each);
      }
    }
    const std::size_t taken = choices[decide(choices.size())];
    if (can_stay && taken != *current) ++used_;
    return taken;
  }

  std::size_t behind(std::size_t most) override {
    if (!old_values_ || used_ == most_) return 0;
    const std::size_t taken = decide(most + 1);
    if (taken != 0) ++used_;
    return taken;
  }

  bool repeatable() const override { return repeatable_; }

  bool next() override {
    path_.resize(std::min(path_.size(), at_));
    while (!path_.empty() && path_.back().taken + 1 >= path_.back().of) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

 private:
  struct Decision {
    std::size_t taken, of;
  };
  std::size_t decide(std::size_t choices) {
    if (at_ == path_.size()) path_.push_back({0, choices});
    repeatable_ &= path_[at_].of == choices;
    return std::min(path_[at_++].taken, choices - 1);
  }

  const std::size_t most_;
  const bool old_values_;
  std::vector<Decision> path_;
  std::size_t at_ = 0, used_ = 0;
  bool repeatable_ = true;
};

// The thread of the highest priority goes on; at `depth` random steps it falls below all others.
class Priorities final : public Strategy {
 public:
  Priorities(std::size_t depth, std::uint64_t seed, bool old_values)
      : depth_(depth), old_values_(old_values), random_(seed) {}

  void begin(std::size_t threads) override {
    priorities_.resize(threads);
    for (std::size_t i = 0; i < threads; ++i) priorities_[i] = static_cast<int>(i);
    std::ranges::shuffle(priorities_, random_);
    longest_ = std::max(longest_, step_);
    step_ = 0;
    lowest_ = 0;
    changes_.clear();
    for (std::size_t i = 0; i < depth_; ++i) changes_.push_back(random_() % (longest_ + 1));
  }

  std::size_t choose(const std::vector<std::size_t>& ready, std::optional<std::size_t>) override {
    const auto best = [&] {
      return *std::ranges::max_element(ready, {},
                                       [&](std::size_t each) { return priorities_[each]; });
    };
    ++step_;
    if (std::ranges::find(changes_, step_) != changes_.end()) priorities_[best()] = --lowest_;
    return best();
  }

  std::size_t behind(std::size_t most) override {
    return old_values_ && random_() % 8 == 0 ? random_() % (most + 1) : 0;
  }

  bool next() override { return true; }

 private:
  const std::size_t depth_;
  const bool old_values_;
  std::mt19937_64 random_;
  std::vector<int> priorities_;
  std::vector<std::uint64_t> changes_;
  std::uint64_t step_ = 0, longest_ = 16;
  int lowest_ = 0;
};

}  // namespace ebb::schedules
