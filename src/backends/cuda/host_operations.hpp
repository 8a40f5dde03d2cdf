// Operations of a GPU's tensors that run on the host: their operands are read, the CPU's kernel
// runs, their results are written.
#pragma once

#include <span>
#include <string_view>

#include "ops/op_call.hpp"

namespace ebb::cuda {

struct HostOperation {
  std::string_view name;
  std::string_view reason;
};

// All of them, each with its reason.
std::span<const HostOperation> host_operations() noexcept;

// Runs the call so, whether it is on the list or not.
void run_on_host(ops::OpCall& call);

}  // namespace ebb::cuda
