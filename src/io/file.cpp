#include "io/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace ebb::io {
namespace {

[[noreturn]] void refuse(std::string_view who, std::string_view what,
                         const std::filesystem::path& path) {
  const int reason = errno;
  raise(ErrorKind::kDevice, "[{}] {} {}: {}", who, what, path.string(), std::strerror(reason));
}

class Descriptor {
 public:
  Descriptor(const char* path, int flags) noexcept
      : number_(::open(path, flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const noexcept { return number_; }
  bool close() noexcept {
    const bool closed = number_ < 0 || ::close(number_) == 0;
    number_ = -1;
    return closed;
  }

 private:
  int number_;
};

bool write_all(int descriptor, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path, std::string_view who) {
  const Descriptor file(path.c_str(), O_RDONLY);
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) refuse(who, "cannot read", path);
  if (!S_ISREG(status.st_mode)) {
    raise(ErrorKind::kDevice, "[{}] cannot read {}: it is not a plain file", who, path.string());
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;  // there is nothing to map
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) refuse(who, "cannot read", path);
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  std::string_view who) {
  const std::string beside = path.string() + "." + std::to_string(::getpid()) + ".part";
  Descriptor file(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  if (file.get() < 0) refuse(who, "cannot write", path);
  if (!write_all(file.get(), bytes) || !file.close() ||
      ::rename(beside.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(beside.c_str());
    errno = reason;
    refuse(who, "cannot write", path);
  }
}

}  // namespace ebb::io
