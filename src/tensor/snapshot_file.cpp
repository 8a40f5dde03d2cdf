#include "tensor/snapshot_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "ebb/base/error.hpp"

namespace ebb {
namespace {

constexpr std::size_t kLarge = std::size_t{64} << 10;

// Two snapshots may be under way to the same path, also from two processes.
std::string draft_of(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}.{}-{}.part", path, ::getpid(), ++count);
}

}  // namespace

SnapshotFile::SnapshotFile(std::string path) : path_(std::move(path)), draft_(draft_of(path_)) {
  file_ = ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file_ < 0) fail("create", errno);
}

SnapshotFile::~SnapshotFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(draft_.c_str());
}

void SnapshotFile::flush_if_large() {
  if (text_.size() >= kLarge) flush();
}

void SnapshotFile::flush() {
  for (std::size_t done = 0; done < text_.size();) {
    const ssize_t wrote = ::write(file_, text_.data() + done, text_.size() - done);
    if (wrote < 0 && errno != EINTR) fail("write", errno);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  text_.clear();
}

void SnapshotFile::publish() {
  flush();
  if (::rename(draft_.c_str(), path_.c_str()) != 0) fail("name", errno);
  ::close(std::exchange(file_, -1));
}

void SnapshotFile::fail(const char* verb, int error) const {
  raise(ErrorKind::kDevice, "[snapshot] cannot {} {}: {}", verb, path_,
        std::generic_category().message(error));
}

}  // namespace ebb
