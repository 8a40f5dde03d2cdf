#include "base/file_draft.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/file_calls.hpp"
#include "ebb/base/error.hpp"

namespace ebb {
namespace {

// A container's processes have the same few numbers at each start, so drafts of one that was killed
// may be in the way of the next; so many are stepped over.
constexpr int kMostDrafts = 10'000;

std::string draft_of(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}.{}-{}.part", path, ::getpid(), ++count);
}

// What a link names is written, and the link stays; also where nothing is there yet.
std::string behind_links(std::string path) {
  constexpr int kMostLinks = 40;  // as the kernel has it
  std::array<char, 4096> target;
  for (int i = 0; i < kMostLinks; ++i) {
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length <= 0) break;
    const std::string_view named(target.data(), static_cast<std::size_t>(length));
    const std::size_t folder = named.front() == '/' ? 0 : path.rfind('/') + 1;
    path.replace(folder, std::string::npos, named);
  }
  return path;
}

// A device or a pipe would be replaced by a file.
bool is_replaceable(const std::string& path) {
  struct stat there;
  return ::stat(path.c_str(), &there) != 0 || S_ISREG(there.st_mode) || S_ISDIR(there.st_mode);
}

}  // namespace

FileDraft::FileDraft(std::string path, std::string_view who)
    : path_(behind_links(std::move(path))), who_(who) {
  if (!is_replaceable(path_)) {
    raise(ErrorKind::kDevice, "[{}] cannot write {}: it is not a plain file", who_, path_);
  }
  create();
}

void FileDraft::create() {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  for (int i = 0; i < kMostDrafts; ++i) {
    draft_ = draft_of(path_);
    file_ = uninterrupted([&] { return FileCalls::current().open(draft_.c_str(), kFlags, 0666); });
    if (file_ >= 0) return;
    if (errno != EEXIST) break;
  }
  fail(errno);
}

FileDraft::~FileDraft() {
  if (file_ >= 0) FileCalls::current().close(file_);
  if (!named_) uninterrupted([&] { return FileCalls::current().unlink(draft_.c_str()); });
}

void FileDraft::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = uninterrupted(
        [&] { return FileCalls::current().write(file_, bytes.data(), bytes.size()); });
    if (written <= 0) fail(written < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void FileDraft::publish() {
  // Some file systems tell only here that there was no room. The number is free whatever it says.
  if (FileCalls::current().close(std::exchange(file_, -1)) != 0) fail(errno);
  if (FileCalls::current().rename(draft_.c_str(), path_.c_str()) != 0) fail(errno);
  named_ = true;
}

void FileDraft::fail(int error) const {
  raise(ErrorKind::kDevice, "[{}] cannot write {}: {}", who_, path_,
        std::generic_category().message(error));
}

}  // namespace ebb
