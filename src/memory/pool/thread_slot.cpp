// Which caches a thread has, and what becomes of them when it ends.
//
// Protocol. A thread finds its caches in t_slot, without locks. When it ends, or needs an entry for
// another pool, it gives a cache back to its pool, if that still exists: the registry knows, and
// its lock is held meanwhile, so that the pool cannot go away. Order of locks: registry, then pool.
#include <pthread.h>

#include <mutex>
#include <utility>

#include "base/fork.hpp"
#include "memory/pool/pool_core.hpp"

namespace ebb::detail {

constinit thread_local ThreadSlot t_slot;

namespace {

constexpr std::uint64_t kPoolBits = ~std::uint64_t{0xFF};  // of a key; the rest is the stream

struct Registry {
  std::mutex mutex;
  PoolCore* pools = nullptr;

  void unlock_all() noexcept {
    for (PoolCore* pool = pools; pool != nullptr; pool = pool->registry_next) pool->unlock_all();
    mutex.unlock();
  }
  PoolCore* find(std::uint64_t key) const noexcept {
    PoolCore* pool = pools;
    while (pool != nullptr && pool->key() != (key & kPoolBits)) pool = pool->registry_next;
    return pool;
  }
};
constinit Registry g_registry;

void release(ThreadSlot::Entry& entry) noexcept {
  if (PoolCore* core = g_registry.find(entry.key)) core->retire_cache(entry.cache);
  entry = {};
}

void end_thread(void* argument) noexcept {
  ThreadSlot& slot = *static_cast<ThreadSlot*>(argument);
  const std::lock_guard lock(g_registry.mutex);
  slot.key = 0;
  for (ThreadSlot::Entry& entry : slot.entries)
    if (entry.cache != nullptr) release(entry);
}

// Made when the library is loaded: a fork while another thread is making it would leave the child
// waiting for that.
const std::pair<pthread_key_t, bool> g_exit_key = [] {
  pthread_key_t made{};
  const bool ok = pthread_key_create(&made, [](void* argument) { end_thread(argument); }) == 0;
  return std::pair(made, ok);
}();

// A pthread key, not a C++ thread_local with a destructor: registering that one allocates, and it
// would run before the destructors of other thread-locals that still free blocks.
bool arm_thread_exit(ThreadSlot& slot) noexcept {
  return g_exit_key.second && pthread_setspecific(g_exit_key.first, &slot) == 0;
}

// An entry that is not used; where all are, that of a pool that is gone, or else the next in turn.
ThreadSlot::Entry& free_entry(ThreadSlot& slot) noexcept {
  for (ThreadSlot::Entry& entry : slot.entries)
    if (entry.cache == nullptr) return entry;
  const std::lock_guard lock(g_registry.mutex);
  for (ThreadSlot::Entry& entry : slot.entries) {
    if (g_registry.find(entry.key) != nullptr) continue;
    entry = {};
    return entry;
  }
  ThreadSlot::Entry& victim = slot.entries[slot.next_victim++ % ThreadSlot::kEntries];
  release(victim);
  return victim;
}

ThreadCache* peek_cache(const ThreadSlot& slot, std::uint64_t key) noexcept {
  for (const ThreadSlot::Entry& entry : slot.entries)
    if (entry.key == key) return entry.cache;
  return nullptr;
}

// The locks of all pools, taken before a fork and given back after it. The caches of threads that
// the child does not have are idle there, and within reach like those of any idle thread; a block
// that such a thread was popping or pushing is lost to the child.
constinit ForkHook g_fork{
    ForkRank::kPools,
    []() noexcept {
      g_registry.mutex.lock();
      for (PoolCore* pool = g_registry.pools; pool != nullptr; pool = pool->registry_next)
        pool->lock_all();
    },
    []() noexcept { g_registry.unlock_all(); },
    []() noexcept {
      for (PoolCore* pool = g_registry.pools; pool != nullptr; pool = pool->registry_next)
        pool->forget_waiters();
      g_registry.unlock_all();
    }};

[[maybe_unused]] const bool g_armed = (at_fork(g_fork), true);

}  // namespace

ThreadCache* find_cache(PoolCore& core, std::uint64_t key, StreamId stream, bool grow) noexcept {
  ThreadSlot& slot = t_slot;
  ThreadCache* cache = slot.key == key ? slot.cache : peek_cache(slot, key);
  if (cache == nullptr) {
    if (!arm_thread_exit(slot)) return nullptr;
    cache = core.adopt_cache(stream, grow);
    if (cache == nullptr) return nullptr;
    free_entry(slot) = {key, cache};
  }
  slot.key = key;
  slot.cache = cache;
  return cache;
}

void register_pool(PoolCore& core) noexcept {
  const std::lock_guard lock(g_registry.mutex);
  core.registry_next = g_registry.pools;
  g_registry.pools = &core;
}

void unregister_pool(PoolCore& core) noexcept {
  const std::lock_guard lock(g_registry.mutex);
  PoolCore** link = &g_registry.pools;
  while (*link != &core) link = &(*link)->registry_next;
  *link = core.registry_next;
}

}  // namespace ebb::detail
