// A file that appears under its name when it is complete, or not at all.
#pragma once

#include <cstddef>
#include <string>

namespace ebb {

class SnapshotFile {
 public:
  // Throws Error(kDevice), like all below.
  explicit SnapshotFile(std::string path);
  // Without a `publish` before it, nothing stays.
  ~SnapshotFile();
  SnapshotFile(const SnapshotFile&) = delete;
  SnapshotFile& operator=(const SnapshotFile&) = delete;

  // Text that collects here is written out when there is enough of it.
  std::string& text() noexcept { return text_; }
  void flush_if_large();
  void publish();

 private:
  void flush();
  [[noreturn]] void fail(const char* verb, int error) const;

  const std::string path_;
  const std::string draft_;
  int file_ = -1;
  std::string text_;
};

}  // namespace ebb
