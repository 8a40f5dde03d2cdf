// Files as a whole: mapped to be read, replaced in one step when written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "ebb/base/error.hpp"

namespace ebb::io {

// Throws Error(kDevice), which begins with [who], where the file cannot be read.
class MappedFile {
 public:
  MappedFile(const std::filesystem::path& path, std::string_view who);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// What `parse` makes of a file; its errors name the file.
template <typename Parse>
auto parse_file(const std::filesystem::path& path, std::string_view who, Parse parse) {
  const MappedFile file(path, who);
  try {
    return parse(file.bytes());
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error& error) {
    raise(error.kind(), "{} ({})", error.what(), path.string());
  }
}

// Throws Error(kDevice); the file is then as it was.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  std::string_view who);

}  // namespace ebb::io
