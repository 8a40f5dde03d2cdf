// The system calls of files, made to fail on request.
#pragma once

#include <cerrno>
#include <cstdint>

#include "base/file_calls.hpp"

namespace ebb::fault {

enum class FileFault : std::uint8_t { kShort, kInterrupted, kNoRoom, kBroken };
inline constexpr FileFault kFileFaults[] = {FileFault::kShort, FileFault::kInterrupted,
                                            FileFault::kNoRoom, FileFault::kBroken};

// Counts the calls, and fails number `at` (from 1) or, with `and_later`, all from it on. A call
// that fails has not happened; `close` has, as the system's. One that cannot be short succeeds.
class FailingFiles final : public FileCalls {
 public:
  FailingFiles(FileFault fault, std::uint64_t at, bool and_later) noexcept
      : fault_(fault), at_(at), and_later_(and_later) {}

  std::uint64_t calls() const noexcept { return calls_; }
  // Whether a draft could not be taken away.
  bool kept_a_draft() const noexcept { return kept_a_draft_; }

  int open(const char* path, int flags, mode_t mode) noexcept override {
    return fails() ? -1 : FileCalls::open(path, flags, mode);
  }
  int fstat(int file, struct stat* status) noexcept override {
    return fails() ? -1 : FileCalls::fstat(file, status);
  }
  ssize_t pread(int file, void* to, std::size_t bytes, off_t at) noexcept override {
    const bool short_now = is_short(bytes);
    return fails() ? -1 : FileCalls::pread(file, to, short_now ? 1 : bytes, at);
  }
  ssize_t write(int file, const void* from, std::size_t bytes) noexcept override {
    const bool short_now = is_short(bytes);
    return fails() ? -1 : FileCalls::write(file, from, short_now ? bytes / 2 : bytes);
  }
  int close(int file) noexcept override {
    FileCalls::close(file);
    return fails() ? -1 : 0;
  }
  int rename(const char* from, const char* to) noexcept override {
    return fails() ? -1 : FileCalls::rename(from, to);
  }
  int unlink(const char* path) noexcept override {
    const bool failed = fails();
    kept_a_draft_ = failed;
    return failed ? -1 : FileCalls::unlink(path);
  }

 private:
  bool hits(std::uint64_t call) const noexcept { return and_later_ ? call >= at_ : call == at_; }
  bool is_short(std::size_t bytes) const noexcept {
    return fault_ == FileFault::kShort && bytes > 1 && hits(calls_ + 1);
  }
  bool fails() noexcept {
    if (!hits(++calls_) || fault_ == FileFault::kShort) return false;
    errno = fault_ == FileFault::kInterrupted ? EINTR : fault_ == FileFault::kNoRoom ? ENOSPC : EIO;
    return true;
  }

  const FileFault fault_;
  const std::uint64_t at_;
  const bool and_later_;
  std::uint64_t calls_ = 0;
  bool kept_a_draft_ = false;
};

}  // namespace ebb::fault
