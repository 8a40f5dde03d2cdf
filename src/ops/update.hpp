// Updates of optimizers that write over their operands, for a recorded program (src/program): everything
// that can fail is done before the first element is written.
#pragma once

#include <optional>

#include "ebb/ops/run.hpp"
#include "ops/kernels.hpp"
#include "ops/params/optimizers.hpp"

namespace ebb::ops {

// Where such an operation has what; none: it is another.
std::optional<UpdateForm> update_form(OpId op, std::span<const double> attributes) noexcept;

class UpdateInPlace {
 public:
  // Resolves the inputs and makes the results, as run() does. `over`: by input, whether a result takes its
  // memory. The results are the caller's from then on, also where it is never run.
  UpdateInPlace(const RunPlace& place, OpId op, std::span<const Handle> inputs,
                std::span<const double> attributes, std::span<const char> over,
                std::span<OpResult> results);
  std::size_t results() const noexcept { return count_; }
  void run() noexcept { kernel_(call_); }

 private:
  OpCall call_;
  Kernel kernel_;
  std::size_t count_ = 0;
};

}  // namespace ebb::ops
