// The system calls that files are read and written with, each behind one function: the seam at
// which a test makes any of them fail, be cut short or be interrupted.
//
// Each behaves as the call of its name: -1 and `errno` where it fails.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>

namespace ebb {

class FileCalls {
 public:
  virtual ~FileCalls() = default;

  virtual int open(const char* path, int flags, mode_t mode) noexcept;
  virtual int fstat(int file, struct stat* status) noexcept;
  virtual ssize_t pread(int file, void* to, std::size_t bytes, off_t at) noexcept;
  virtual ssize_t write(int file, const void* from, std::size_t bytes) noexcept;
  virtual int close(int file) noexcept;
  virtual int rename(const char* from, const char* to) noexcept;
  virtual int unlink(const char* path) noexcept;

  // The system's, unless a test has put its own in their place.
  static FileCalls& current() noexcept;
};

// While it lives, files are read and written with `calls`, by every thread.
class [[nodiscard]] FileCallsReplaced {
 public:
  explicit FileCallsReplaced(FileCalls& calls) noexcept;
  ~FileCallsReplaced();
  FileCallsReplaced(const FileCallsReplaced&) = delete;
  FileCallsReplaced& operator=(const FileCallsReplaced&) = delete;

 private:
  FileCalls* const before_;
};

// Makes a call again while a signal interrupts it. Interrupted this often without end, something is
// wrong that waiting does not cure, and the call has failed.
inline constexpr int kMostInterruptions = 10'000;
bool was_interrupted(int times) noexcept;

template <typename Call>
auto uninterrupted(Call call) noexcept {
  for (int times = 1;; ++times) {
    const auto result = call();
    if (result >= 0 || !was_interrupted(times)) return result;
  }
}

}  // namespace ebb
