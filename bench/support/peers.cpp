#include "support/peers.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace ebb::bench {

const Malloc& glibc() {
  static const Malloc peer{"glibc", std::malloc, std::free};
  return peer;
}

const Malloc* mimalloc() {
  static const Malloc peer = [] {
    void* library = ::dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return Malloc{"mimalloc", nullptr, nullptr};
    return Malloc{"mimalloc",
                  reinterpret_cast<void* (*)(std::size_t)>(::dlsym(library, "mi_malloc")),
                  reinterpret_cast<void (*)(void*)>(::dlsym(library, "mi_free"))};
  }();
  return peer.allocate != nullptr && peer.free != nullptr ? &peer : nullptr;
}

}  // namespace ebb::bench
