// libebb_cuda.so, opened when the first GPU is asked for.
#pragma once

#include <string>

#include "backends/cuda/plugin.h"

namespace ebb::cuda {

class PluginLibrary {
 public:
  // The process's plug-in. Throws Error(kUnsupported) saying why it is not there; a later call
  // tries again.
  static const ebb_cuda_table& table();
  // For tests: another table takes its place, null puts the library's back. Devices that are open
  // keep theirs.
  static void replace(const ebb_cuda_table* table) noexcept;
};

// Throws Error(kUnsupported) where the table is not of this build. `where`: for the message.
void check_table(const ebb_cuda_table* table, const std::string& where);

}  // namespace ebb::cuda
