// Files as a whole: read piece by piece, replaced in one step when written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ebb/base/error.hpp"

namespace ebb::io {

// Bytes by position: in memory, or in a file.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::uint64_t size() const noexcept = 0;
  // These bytes, until the next call. Pre: `at` + `count` <= size().
  virtual std::span<const std::byte> bytes(std::uint64_t at, std::size_t count) = 0;
};

class MemorySource final : public Source {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  std::uint64_t size() const noexcept override { return bytes_.size(); }
  std::span<const std::byte> bytes(std::uint64_t at, std::size_t count) override {
    return bytes_.subspan(at, count);
  }

 private:
  const std::span<const std::byte> bytes_;
};

// A file is read, not mapped: where somebody cuts it short meanwhile, reading says so and a mapping
// raises SIGBUS, which is the host's to handle and not a library's. Read by the tensor, it takes no
// more memory beside them than the largest.
class FileSource final : public Source {
 public:
  // Throws Error(kDevice), which begins with [who], where the file cannot be read; so does `bytes`.
  // Pre: `who` outlives it.
  FileSource(const std::filesystem::path& path, std::string_view who);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::uint64_t size() const noexcept override { return size_; }
  std::span<const std::byte> bytes(std::uint64_t at, std::size_t count) override;

 private:
  void open();
  [[noreturn]] void refuse(std::string_view why) const;
  [[noreturn]] void refuse(int error) const;

  const std::string path_;
  const std::string_view who_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t room_ = 0;  // in the buffer
};

// What `parse` makes of a file; its errors name the file.
template <typename Parse>
auto parse_file(const std::filesystem::path& path, std::string_view who, Parse parse) {
  FileSource file(path, who);
  try {
    return parse(file);
  } catch (const Error& error) {
    const bool names_it = error.kind() == ErrorKind::kDevice;
    if (names_it || error.kind() == ErrorKind::kOutOfMemory) throw;
    raise(error.kind(), "{} ({})", error.what(), path.string());
  }
}

// Throws Error(kDevice); the file is then as it was.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  std::string_view who);

}  // namespace ebb::io
