#include "base/file_calls.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

namespace ebb {
namespace {

std::atomic<FileCalls*> replaced{nullptr};

}  // namespace

int FileCalls::open(const char* path, int flags, mode_t mode) noexcept {
  return ::open(path, flags, mode);
}
int FileCalls::fstat(int file, struct stat* status) noexcept { return ::fstat(file, status); }
ssize_t FileCalls::pread(int file, void* to, std::size_t bytes, off_t at) noexcept {
  return ::pread(file, to, bytes, at);
}
ssize_t FileCalls::write(int file, const void* from, std::size_t bytes) noexcept {
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
