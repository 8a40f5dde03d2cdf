// The allocators that Ebb is measured against. mimalloc is loaded, not linked: linking it would
// replace glibc's malloc in the whole program.
#pragma once

#include <cstddef>

namespace ebb::bench {

struct Malloc {
  const char* name;
  void* (*allocate)(std::size_t);
  void (*free)(void*);
};

const Malloc& glibc();
// Null where the library is not there.
const Malloc* mimalloc();

}  // namespace ebb::bench
