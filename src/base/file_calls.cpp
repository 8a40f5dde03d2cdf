#include "base/file_calls.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>

namespace ebb {
namespace {

std::atomic<FileCalls*> replaced{nullptr};

#if defined(__EMSCRIPTEN__)
class WriteSignals {};
#else
// A file that has reached the limit of the process, and a pipe that nobody reads any more, are
// errors like any other: the signals that would end the program as well are kept from it. A program
// that blocks them has seen to it itself.
class WriteSignals {
 public:
  WriteSignals() noexcept {
    sigemptyset(&ours_);
    sigaddset(&ours_, SIGXFSZ);
    sigaddset(&ours_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  }
  ~WriteSignals() {
    const int error = errno;
    if (error == EFBIG) take_back(SIGXFSZ);
    if (error == EPIPE) take_back(SIGPIPE);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;

 private:
  void take_back(int signal) noexcept {
    if (sigismember(&before_, signal) == 1) return;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    constexpr timespec kNow{};
    sigtimedwait(&one, nullptr, &kNow);
  }

  sigset_t ours_, before_;
};
#endif

}  // namespace

int FileCalls::open(const char* path, int flags, mode_t mode) noexcept {
  return ::open(path, flags, mode);
}
int FileCalls::fstat(int file, struct stat* status) noexcept { return ::fstat(file, status); }
ssize_t FileCalls::pread(int file, void* to, std::size_t bytes, off_t at) noexcept {
  return ::pread(file, to, bytes, at);
}
ssize_t FileCalls::write(int file, const void* from, std::size_t bytes) noexcept {
  [[maybe_unused]] const WriteSignals kept_back;
  return ::write(file, from, bytes);
}
int FileCalls::close(int file) noexcept { return ::close(file); }
int FileCalls::rename(const char* from, const char* to) noexcept { return ::rename(from, to); }
int FileCalls::unlink(const char* path) noexcept { return ::unlink(path); }

FileCalls& FileCalls::current() noexcept {
  static FileCalls system;
  FileCalls* const test = replaced.load(std::memory_order_acquire);
  return test != nullptr ? *test : system;
}

FileCallsReplaced::FileCallsReplaced(FileCalls& calls) noexcept
    : before_(replaced.exchange(&calls, std::memory_order_acq_rel)) {}

FileCallsReplaced::~FileCallsReplaced() { replaced.store(before_, std::memory_order_release); }

bool was_interrupted(int times) noexcept { return errno == EINTR && times < kMostInterruptions; }

}  // namespace ebb
