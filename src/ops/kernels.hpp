// Where a device's kernels are found. src/backends/backend.hpp says what they must be.
#pragma once

#include <array>

#include "ops/op_call.hpp"

namespace ebb::ops {

using Kernel = void (*)(OpCall&);

class KernelTable {
 public:
  void set(OpId id, Kernel kernel) noexcept { kernels_[id] = kernel; }
  // Null: this device does not have it.
  Kernel operator[](OpId id) const noexcept { return kernels_[id]; }

 private:
  std::array<Kernel, kOpIdLimit> kernels_{};
};

// The kernels for devices whose memory the host can address. The table must live as long as the
// process.
void install_kernels(const KernelTable& table) noexcept;
// Null: none are installed for such a device.
const KernelTable* kernels_for(const Device& device) noexcept;

}  // namespace ebb::ops
