// What a program keeps between runs that are given the same weights (Plan::kept).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "program/plan_run.hpp"

namespace ebb::programs {

using KeptTensors = std::shared_ptr<const std::vector<Tensor>>;

class Kept {
 public:
  // What a run with these may use; null: nothing. It is made in the second run with the same weights.
  KeptTensors find(const Plan& plan, const ops::RunPlace& place, std::span<const Handle> given);
  // For whoever needs the memory; nothing is kept from then on. False: nothing was.
  bool let_go();
  std::size_t count() const;

 private:
  // By what names it was made. A tensor's name is never another's.
  struct Source {
    ContextId context = 0;
    const Device* device = nullptr;
    std::vector<Handle> weights;
    bool operator==(const Source&) const = default;
  };
  static Source source_of(const Plan& plan, const ops::RunPlace& place,
                          std::span<const Handle> given);

  mutable std::mutex mutex_;
  Source last_;
  KeptTensors tensors_;
  bool given_up_ = false;
};

}  // namespace ebb::programs
