// What becomes of Ebb's locks when the program forks.
//
// The child of fork() has one thread, the one that forked. A lock that another thread held at that
// moment would stay taken in the child for ever, and what it guards could be half changed. So each
// part that has locks says here how to take them all: they are taken before the fork, outermost
// first, and given back after it, in the parent and in the child.
//
//   constinit ForkHook hook{ForkRank::kPools, take_all, give_all, give_all};
//   at_fork(hook);   // once, when the library is loaded
//
// What is made at its first use is made when the library is loaded instead (a variable at namespace
// scope that is initialised with it): a fork while another thread is making it would leave the child
// waiting for that.
//
// A part whose threads are gone in the child puts itself right in `in_child`, or remembers that it
// cannot, and says so at its first call.
#pragma once

#include <cstdint>

namespace ebb {

// The order in which locks are taken, in a fork and anywhere else: outermost first.
enum class ForkRank : std::uint8_t {
  kWorkers,   // threads of Ebb's own
  kDevices,   // the registry of devices
  kContexts,  // the registry of contexts, then the contexts, then what their tables share
  kPools,     // the registry of pools, then the pools and the threads' caches
  kHeaps,     // what a device keeps below its pool
  kTables,    // sites, event rings: nothing is locked inside them
};

// The functions run on the thread that forks. `before` takes locks; the other two give them back.
struct ForkHook {
  ForkRank rank;
  void (*before)() noexcept;
  void (*in_parent)() noexcept;
  void (*in_child)() noexcept;
  ForkHook* next = nullptr;  // at_fork's
};

// Pre: `hook` lives as long as the program, and is given once. Hooks of one rank run in the order
// in which they were given.
void at_fork(ForkHook& hook) noexcept;

}  // namespace ebb
