// The layers and optimizers that a step asks for what may change, or changes, and their state before it: a recording goes
// by it. Steps may be in one another: each hears what those inside of it use.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ebb/nn/layer.hpp"

namespace ebb::nn {

class LayersUsed {
 public:
  // On this thread, while it lives. What was made meanwhile and has ended by then is forgotten: the step makes it anew.
  class Hearing {
   public:
    explicit Hearing(LayersUsed& used) noexcept;
    ~Hearing();
    Hearing(const Hearing&) = delete;
    Hearing& operator=(const Hearing&) = delete;

   private:
    friend class LayersUsed;
    LayersUsed& used_;
    Hearing* const outer_;
    const std::uint64_t begin_;  // of changes
  };

  bool are_as_they_were() const noexcept;
  void clear() noexcept { used_.clear(); }

  // A state is about to be given out or changed.
  static void tell(const std::shared_ptr<LayerState>& state);
  // Of any of them. Returns how many there were before.
  static std::uint64_t count_change() noexcept;

 private:
  struct Used {
    std::shared_ptr<const LayerState> state;
    LayerState before;
  };

  std::vector<Used> used_;
};

}  // namespace ebb::nn
