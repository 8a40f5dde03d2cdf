// A file that appears under its name when it is complete, or not at all.
//
// It is written under another name in the same folder, a draft, and renamed when all of it is
// there: whoever opens the name finds the old file or the new one, also where many write it at
// once, and where a writer is killed. A draft's name is nobody else's (created with O_EXCL). A
// killed process leaves its draft (`<name>.<pid>-<number>.part`) behind. Nothing is forced to the
// disk: what a loss of power leaves is up to the file system.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ebb {

class FileDraft {
 public:
  // All throw Error(kDevice), which begins with [who] and names the path. Pre: `who` outlives it.
  FileDraft(std::string path, std::string_view who);
  // Without a `publish` that returned, nothing stays and the name is as it was.
  ~FileDraft();
  FileDraft(const FileDraft&) = delete;
  FileDraft& operator=(const FileDraft&) = delete;

  void write(std::span<const std::byte> bytes);
  // Once, at last.
  void publish();

 private:
  void create();
  [[noreturn]] void fail(int error) const;

  const std::string path_;
  const std::string_view who_;
  std::string draft_;
  int file_ = -1;
  bool named_ = false;
};

}  // namespace ebb
