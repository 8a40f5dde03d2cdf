// A child of fork() has one thread; whatever the others were doing, the pool works there.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "ebb/memory/device.hpp"
#include "ebb/memory/pool.hpp"
#include "ebb/memory/site_table.hpp"
#include "ebb/memory/system_heap.hpp"

namespace ebb {
namespace {

// 0: it ended well; -1: it hung.
template <typename Child>
int run_child(Child child) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(child() ? 0 : 1);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

bool use_everything(Pool& pool) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < 300; ++i) blocks.push_back(pool.allocate(1 + i * i * 7));
  for (const Block block : blocks) {
    if (!block) return false;
    pool.free(block);
  }
  pool.trim(SIZE_MAX);
  pool.check();
  SiteTable::instance().intern("made in the child");
  return Device::find("no such device") == nullptr;
}

TEST(PoolFork, AChildWorksWhateverTheThreadsWereDoing) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "g++ 12's AddressSanitizer leaves the locks of its own allocator taken in a child";
#endif
  SystemHeap heap({.huge_pages = false});
  Pool pool(heap);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; !stop; ++i) {
        std::vector<Block> blocks;
        for (std::size_t n = 0; n < 90; ++n) blocks.push_back(pool.allocate(1 + n * n * 30));
        for (const Block block : blocks) pool.free(block);
        if (t == 0) pool.trim(SIZE_MAX);
        if (t == 1) SiteTable::instance().intern(std::to_string(i % 1000));
        if (t == 2) static_cast<void>(Device::find("no such device"));
      }
    });
  for (int i = 0; i < 40; ++i) EXPECT_EQ(run_child([&] { return use_everything(pool); }), 0);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.stats().in_use, 0u);
}

}  // namespace
}  // namespace ebb
