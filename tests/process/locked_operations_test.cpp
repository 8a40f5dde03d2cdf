// The thread that owns a context's lock makes and ends handles without a locked instruction. A child does
// so between two breakpoints, and is stepped from one to the other, each instruction looked at.
#include <gtest/gtest.h>

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#include <sys/ptrace.h>
#include <sys/user.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "base/process_barrier.hpp"
#include "ebb/tensor/context.hpp"
#include "process/child.hpp"

namespace ebb::test {
namespace {

constexpr std::uint8_t kBreakpoint = 0xCC;
constexpr unsigned kSeconds = 60;
using Bytes = std::array<std::uint8_t, 16>;

// The lock prefix, or an exchange with memory, which needs none.
bool is_locked(const Bytes& code) {
  std::size_t i = 0;
  const std::array<std::uint8_t, 10> prefixes{0x66, 0x67, 0xF2, 0xF3, 0x2E,
                                              0x36, 0x3E, 0x26, 0x64, 0x65};
  while (std::ranges::find(prefixes, code[i]) != prefixes.end()) ++i;
  if (code[i] == 0xF0) return true;
  if ((code[i] & 0xF0) == 0x40) ++i;  // REX
  const bool exchange = code[i] == 0x86 || code[i] == 0x87;
  return exchange && code[i + 1] >> 6 != 3;
}

struct Seen {
  int instructions = 0;
  int locked = 0;
};

// Steps through a process that is at its first breakpoint until it is at the next.
class Stepper {
 public:
  explicit Stepper(pid_t child) : child_(child) {}

  bool stopped() {
    int status = 0;
    return ::waitpid(child_, &status, 0) == child_ && WIFSTOPPED(status) &&
           WSTOPSIG(status) == SIGTRAP;
  }
  Seen step_to_breakpoint() {
    Seen seen;
    for (Bytes code = next(); code[0] != kBreakpoint; code = next()) {
      ++seen.instructions;
      seen.locked += is_locked(code) ? 1 : 0;
      ::ptrace(PTRACE_SINGLESTEP, child_, nullptr, nullptr);
      if (!stopped()) break;
    }
    return seen;
  }

 private:
  Bytes next() const {
    user_regs_struct registers{};
    ::ptrace(PTRACE_GETREGS, child_, nullptr, &registers);
    Bytes code{};
    for (std::size_t i = 0; i < code.size(); i += sizeof(long)) {
      const long word = ::ptrace(PTRACE_PEEKTEXT, child_, registers.rip + i, nullptr);
      std::memcpy(code.data() + i, &word, sizeof(word));
    }
    return code;
  }

  pid_t child_;
};

// What `work` does when it has been done often before.
template <typename Setup>
Seen step_through(Setup setup) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kSeconds);
    const auto work = setup();
    for (int i = 0; i < 5000; ++i) work();
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    asm volatile("int3" ::: "memory");
    work();
    asm volatile("int3" ::: "memory");
    ::_exit(0);
  }
  Stepper stepper(child);
  const Seen seen = stepper.stopped() ? stepper.step_to_breakpoint() : Seen{};
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return seen;
}

void expect_none(const Seen& seen) {
  if (seen.instructions == 0) GTEST_SKIP() << "a child cannot be traced here";
  EXPECT_GT(seen.instructions, 100);
  EXPECT_EQ(seen.locked, 0);
}

TEST(LockedOperations, AreSeenWhereThereAreSome) {
  const Seen seen = step_through([] {
    return [] {
      static std::atomic<int> count{0};
      ++count;
      static_cast<void>(count.exchange(7));
    };
  });
  if (seen.instructions == 0) GTEST_SKIP() << "a child cannot be traced here";
  EXPECT_EQ(seen.locked, 2);
}

TEST(LockedOperations, NoneForAForeignHandleMadeAndEnded) {
  if (!process_barrier()) GTEST_SKIP() << "no barrier, no owner of the lock";
  expect_none(step_through([] {
    Device& device = Device::open({.kind = DeviceKind::kForeign, .name = "foreign"});
    const auto context = new ContextPtr(Context::create({.name = "owned"}));
    return [&device, context] {
      const std::array<std::int64_t, 2> dims{16, 16};
      const ForeignSpec spec{
          .device = &device, .bytes = 1024, .tag = 1, .dtype = DType::kFloat32, .dims = dims};
      (*context)->dispose((*context)->adopt(spec));
    };
  }));
}

TEST(LockedOperations, NoneForATensorOfEbbsOwnMadeAndEnded) {
  if (!process_barrier()) GTEST_SKIP() << "no barrier, no owner of the lock";
  expect_none(step_through([] {
    Device& device = Device::open({.name = "cpu"});
    const auto context = new ContextPtr(Context::create({.name = "owned"}));
    return [&device, context] {
      (*context)->dispose((*context)->make({.device = &device, .shape = {16, 16}}));
    };
  }));
}

}  // namespace
}  // namespace ebb::test
#endif
