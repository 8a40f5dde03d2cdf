// Children of a test: forked, or started anew from this executable.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace ebb::test {

// Runs `body` in a forked child, which has `seconds` for it. Its exit code, or the negative number
// of the signal that ended it (SIGALRM: it hung).
template <typename Body>
int in_forked_child(unsigned seconds, Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(seconds);
    int code = 99;
    try {
      code = body();
    } catch (...) {  // 99
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Runs the test DISABLED_<name> of the suite `Child` in a new process of this executable.
inline int in_new_process(unsigned seconds, const char* name) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(seconds);
    ::unsetenv("GTEST_OUTPUT");
    ::unsetenv("GTEST_SHUFFLE");
    // A process that ends while its threads work leaves to the system what they hold.
    const char* options = std::getenv("ASAN_OPTIONS");
    ::setenv("ASAN_OPTIONS",
             (std::string(options == nullptr ? "" : options) + ":detect_leaks=0").c_str(), 1);
    const std::string filter = std::string("--gtest_filter=Child.DISABLED_") + name;
    ::execl("/proc/self/exe", "child", filter.c_str(), "--gtest_also_run_disabled_tests",
            "--gtest_brief=1", static_cast<char*>(nullptr));
    ::_exit(98);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace ebb::test
