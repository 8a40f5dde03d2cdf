// A folder of a test's own, gone with it.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <string>

namespace ebb::test {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(next()) { std::filesystem::create_directories(path_); }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                                  std::filesystem::directory_iterator()));
  }

 private:
  static std::filesystem::path next() {
    static std::atomic<int> count{0};
    const std::string name = std::to_string(::getpid()) + "-" + std::to_string(++count);
    return std::filesystem::temp_directory_path() / ("ebb-test-" + name);
  }
  const std::filesystem::path path_;
};

}  // namespace ebb::test
