// The layers whose mode a step asks for or changes, and their state before it: a recording goes by it. Steps may be in one
// another: each hears what those inside of it use.
#pragma once

#include <memory>
#include <vector>

#include "ebb/nn/layer.hpp"

namespace ebb::nn {

class LayersUsed {
 public:
  // On this thread, while it lives.
  class Hearing {
   public:
    explicit Hearing(LayersUsed& used) noexcept;
    ~Hearing();
    Hearing(const Hearing&) = delete;
    Hearing& operator=(const Hearing&) = delete;

   private:
    LayersUsed* const outer_;
  };

  bool are_as_they_were() const noexcept;
  void clear() noexcept { used_.clear(); }

  // A layer's state is about to be given out or changed.
  static void tell(const std::shared_ptr<LayerState>& state);

 private:
  struct Used {
    std::shared_ptr<const LayerState> state;
    LayerState before;
  };

  std::vector<Used> used_;
  LayersUsed* outer_ = nullptr;
};

}  // namespace ebb::nn
