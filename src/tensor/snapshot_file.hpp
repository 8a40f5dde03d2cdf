// A snapshot's text on its way to its file.
#pragma once

#include <string>

#include "base/file_draft.hpp"

namespace ebb {

class SnapshotFile {
 public:
  // Throws Error(kDevice), like all below. Without a `publish` nothing stays.
  explicit SnapshotFile(std::string path);

  // Text that collects here is written out when there is enough of it.
  std::string& text() noexcept { return text_; }
  void flush_if_large();
  void publish();

 private:
  void flush();

  FileDraft draft_;
  std::string text_;
};

}  // namespace ebb
