#include "base/fork.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <string>

namespace ebb {
namespace {

std::string g_steps;
std::mutex g_lock;

constinit ForkHook g_inner{ForkRank::kTables, []() noexcept { g_steps += "inner "; },
                           []() noexcept { g_steps += "inner' "; },
                           []() noexcept { g_steps += "inner* "; }};
constinit ForkHook g_outer{ForkRank::kWorkers,
                           []() noexcept {
                             g_lock.lock();
                             g_steps += "outer ";
                           },
                           []() noexcept {
                             g_steps += "outer' ";
                             g_lock.unlock();
                           },
                           []() noexcept {
                             g_steps += "outer* ";
                             g_lock.unlock();
                           }};

// What the child has to say, as its parent hears it.
template <typename Child>
std::string said_by_child(Child child) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const std::string said = child();
    const bool written = ::write(ends[1], said.data(), said.size()) == ssize_t(said.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::array<char, 256> heard{};
  const ssize_t bytes = ::read(ends[0], heard.data(), heard.size());
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  return {heard.data(), bytes > 0 ? std::size_t(bytes) : 0};
}

TEST(Fork, LocksAreTakenOutermostFirstAndGivenBackInnermostFirst) {
  at_fork(g_inner);  // in any order
  at_fork(g_outer);
  const std::string in_child = said_by_child([] {
    const std::lock_guard lock(g_lock);  // given back here too
    return g_steps;
  });
  EXPECT_EQ(in_child, "outer inner inner* outer* ");
  EXPECT_EQ(g_steps, "outer inner inner' outer' ");
  EXPECT_TRUE(g_lock.try_lock());
  g_lock.unlock();
}

}  // namespace
}  // namespace ebb
