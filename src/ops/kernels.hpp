// Where a device's kernels are found. src/backends/backend.hpp says what they must be.
#pragma once

#include <array>

#include "ops/op_call.hpp"
#include "ops/params/program_ops.hpp"
#include "ops/program_scope.hpp"

namespace ebb::ops {

using Kernel = void (*)(OpCall&);

class KernelTable {
 public:
  void set(OpId id, Kernel kernel) noexcept { kernels_[id] = kernel; }
  // Null: this device does not have it.
  Kernel operator[](OpId id) const noexcept { return kernels_[id]; }

  // Around each run of a program on such a device. They must live as long as the table; null: nothing.
  void set_program_hooks(const ProgramHooks& hooks) noexcept { program_hooks_ = &hooks; }
  const ProgramHooks* program_hooks() const noexcept { return program_hooks_; }

 private:
  std::array<Kernel, kProgramOpLimit> kernels_{};
  const ProgramHooks* program_hooks_ = nullptr;
};

// The kernels for devices whose memory the host can address. The table must live as long as the
// process.
void install_kernels(const KernelTable& table) noexcept;
// The kernels for one kind of device.
void install_kernels(DeviceKind kind, const KernelTable& table) noexcept;
// Null: none are installed for such a device.
const KernelTable* kernels_for(const Device& device) noexcept;
// Before work on the memory is queued on the stream: it starts after what its own stream was given
// so far, and the memory, once freed, waits for it. Throws OutOfMemory.
void use_on_stream(const StorageRef& memory, StreamId stream);

}  // namespace ebb::ops
