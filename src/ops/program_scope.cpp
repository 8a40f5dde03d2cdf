#include "ops/program_scope.hpp"

#include "ops/kernels.hpp"

namespace ebb::ops {

ProgramScope::ProgramScope(const Device& device, ProgramPace* pace) noexcept : pace_(pace) {
  const KernelTable* const kernels = kernels_for(device);
  if (pace == nullptr || kernels == nullptr) return;
  hooks_ = kernels->program_hooks();
  if (hooks_ != nullptr) hooks_->begin(*pace_);
}

ProgramScope::~ProgramScope() {
  if (hooks_ != nullptr) hooks_->end(*pace_, completed_);
}

}  // namespace ebb::ops
