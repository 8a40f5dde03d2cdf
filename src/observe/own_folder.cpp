#include "observe/own_folder.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "ebb/base/error.hpp"

namespace ebb::observe {

// -1 and why where it is not the user's own.
int OwnFolder::opened(const std::string& path, std::string& why) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    why = std::generic_category().message(errno);
    return -1;
  }
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) {
    why = errno == ELOOP || errno == ENOTDIR ? "it is a link or no folder"
                                             : std::generic_category().message(errno);
    return -1;
  }
  struct stat status {};
  if (::fstat(folder, &status) == 0 && status.st_uid == ::geteuid() &&
      (status.st_mode & 077) == 0) {
    return folder;
  }
  ::close(folder);
  why = "it belongs to another user, or is open to others";
  return -1;
}

OwnFolder::OwnFolder(const char* runtime, const std::string& temporary) {
  std::string why;
  if (runtime != nullptr && runtime[0] == '/') {
    path_ = std::string(runtime) + "/ebb";
    folder_ = opened(path_, why);
    if (folder_ >= 0) return;
  }
  path_ = fmt::format("{}/ebb-{}", temporary, ::geteuid());
  folder_ = opened(path_, why);
  if (folder_ < 0) raise(ErrorKind::kDevice, "[live] {} cannot be used: {}", path_, why);
}

OwnFolder OwnFolder::of_user() { return {std::getenv("XDG_RUNTIME_DIR"), P_tmpdir}; }

OwnFolder::OwnFolder(OwnFolder&& other) noexcept
    : path_(std::move(other.path_)), folder_(std::exchange(other.folder_, -1)) {}

OwnFolder::~OwnFolder() {
  if (folder_ >= 0) ::close(folder_);
}

std::string OwnFolder::through_descriptor(const std::string& name) const {
  return fmt::format("/proc/self/fd/{}/{}", folder_, name);
}

}  // namespace ebb::observe
