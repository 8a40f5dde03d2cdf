#include "base/fork.hpp"

#include <pthread.h>

#include <mutex>

#include "ebb/base/check.hpp"

namespace ebb {
namespace {

struct Hooks {
  std::mutex mutex;  // held from before a fork until after it
  ForkHook* first = nullptr;
};
constinit Hooks g_hooks;

void before_fork() {
  g_hooks.mutex.lock();
  for (ForkHook* hook = g_hooks.first; hook != nullptr; hook = hook->next) hook->before();
}

// What was taken last is given back first. The list is a dozen long.
void run_backwards(ForkHook* hook, void (*ForkHook::*step)() noexcept) {
  if (hook == nullptr) return;
  run_backwards(hook->next, step);
  (hook->*step)();
}

void after_fork_in_parent() {
  run_backwards(g_hooks.first, &ForkHook::in_parent);
  g_hooks.mutex.unlock();
}

void after_fork_in_child() {
  run_backwards(g_hooks.first, &ForkHook::in_child);
  g_hooks.mutex.unlock();
}

}  // namespace

void at_fork(ForkHook& hook) noexcept {
  const std::lock_guard lock(g_hooks.mutex);
  static const bool armed =
      ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
  EBB_CHECK(armed);  // it fails only where there are a few bytes of memory lacking
  ForkHook** link = &g_hooks.first;
  while (*link != nullptr && (*link)->rank <= hook.rank) link = &(*link)->next;
  hook.next = *link;
  *link = &hook;
}

}  // namespace ebb
