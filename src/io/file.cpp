#include "io/file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/file_draft.hpp"

namespace ebb::io {

FileSource::FileSource(const std::filesystem::path& path, std::string_view who)
    : path_(path.string()), who_(who) {
  const auto flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;  // a pipe is refused, not waited for
  file_ = uninterrupted([&] { return FileCalls::current().open(path_.c_str(), flags, 0); });
  if (file_ < 0) refuse(errno);
  try {
    open();
  } catch (...) {
    FileCalls::current().close(file_);
    throw;
  }
}

FileSource::~FileSource() { FileCalls::current().close(file_); }

void FileSource::open() {
  struct stat status {};
  if (uninterrupted([&] { return FileCalls::current().fstat(file_, &status); }) != 0) refuse(errno);
  if (!S_ISREG(status.st_mode)) refuse("it is not a plain file");
  size_ = static_cast<std::uint64_t>(status.st_size);
}

std::span<const std::byte> FileSource::bytes(std::uint64_t at, std::size_t count) {
  if (count > room_) {
    buffer_.reset();
    room_ = 0;
    buffer_ = std::make_unique_for_overwrite<std::byte[]>(count);
    room_ = count;
  }
  for (std::size_t done = 0; done < count;) {
    const std::uint64_t from = at + done;  // arithmetic: within the file, which was checked
    const ssize_t got = uninterrupted([&] {
      return FileCalls::current().pread(file_, buffer_.get() + done, count - done,
                                        static_cast<off_t>(from));
    });
    if (got < 0) refuse(errno);
    if (got == 0) {
      refuse(fmt::format("it had {} bytes, and has ended at {} meanwhile", size_, from));
    }
    done += static_cast<std::size_t>(got);
  }
  return {buffer_.get(), count};
}

void FileSource::refuse(std::string_view why) const {
  raise(ErrorKind::kDevice, "[{}] cannot read {}: {}", who_, path_, why);
}

void FileSource::refuse(int error) const { refuse(std::generic_category().message(error)); }

void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  std::string_view who) {
  FileDraft draft(path.string(), who);
  draft.write(bytes);
  draft.publish();
}

}  // namespace ebb::io
