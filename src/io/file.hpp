// Whole files, read and written.
#pragma once

#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace ebb::io {

class Reader {
 public:
  explicit Reader(std::string path);

  const std::string& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }
  // Throws where that many bytes from `offset` on are not there.
  void read(std::uint64_t offset, std::span<std::byte> to);
  std::string text(std::uint64_t offset, std::uint64_t count);
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::string path_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
};

// A file that takes its name when it is complete.
class Writer {
 public:
  explicit Writer(std::string path);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(const std::string& text);
  void finish();

 private:
  [[noreturn]] void fail();

  std::string path_, draft_;
  std::ofstream stream_;
  bool finished_ = false;
};

}  // namespace ebb::io
