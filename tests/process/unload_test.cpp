// The library stays in the process once it is loaded: threads keep state of Ebb's, exit and fork
// handlers are Ebb's, and all of them outlive a dlclose.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "process/child.hpp"

namespace ebb::test {
namespace {

using Version = const char* (*)();

TEST(Child, DISABLED_UnloadsEbb) {
  void* const library = dlopen(EBB_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::exit(1);
  const auto version = reinterpret_cast<Version>(dlsym(library, "ebb_version"));
  if (version == nullptr || dlclose(library) != 0) std::exit(2);
  if (dlopen(EBB_LIBRARY, RTLD_NOW | RTLD_NOLOAD) == nullptr) std::exit(3);
  std::thread([&] { std::exit(version() == nullptr ? 4 : 0); }).join();
}

TEST(Unload, LeavesTheLibraryWhereItIs) { EXPECT_EQ(in_new_process(30, "UnloadsEbb"), 0); }

}  // namespace
}  // namespace ebb::test
