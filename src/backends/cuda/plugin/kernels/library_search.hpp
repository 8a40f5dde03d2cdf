// Opening NVIDIA's libraries at run time: cuBLASLt and cuDNN are large, and a program may do
// without.
#pragma once

#include <dlfcn.h>

#include <span>
#include <string>

namespace ebb::cuda {

struct OpenedLibrary {
  void* handle = nullptr;  // null: not there; never closed
  std::string why;         // what was tried, where it is not there
};

// The first of `names` that opens: in the folders of EBB_CUDA_LIBRARIES (separated by colons), as
// the loader finds it, then where the toolkit's packages put it.
OpenedLibrary open_library(std::span<const char* const> names);

// False: the library has no such function.
template <typename Function>
bool find_function(void* library, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace ebb::cuda
