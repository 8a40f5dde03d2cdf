// Files that NumPy wrote (tools/make_files.py): read to its elements, and written to its bytes.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "ebb/io/npy.hpp"
#include "ebb/ops/session.hpp"
#include "support/audited.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

std::vector<std::byte> content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(NumPyFiles, AreReadAndWrittenAlike) {
  TestSession session;
  const std::string folder = from_environment("EBB_FILES", EBB_FILES);
  std::ifstream list(folder + "/list.txt");
  std::size_t files = 0;
  for (std::string line; std::getline(list, line); ++files) {
    SCOPED_TRACE(line);
    std::istringstream words(line);
    std::string name, dtype;
    bool same = false;
    words >> name >> dtype >> same;
    const std::vector<std::int64_t> dims{std::istream_iterator<std::int64_t>(words), {}};
    const std::string path = folder + "/" + name;

    const Tensor read = io::load_npy(path + ".npy");
    EXPECT_EQ(name_of(read.dtype()), dtype);
    EXPECT_EQ(read.shape(), Shape(dims));
    std::vector<std::byte> elements(bytes_of(read.shape(), size_of(read.dtype())));
    read.read(elements);
    EXPECT_EQ(elements, content(path + ".raw"));
    if (same) {
      EXPECT_EQ(io::format_npy(read), content(path + ".npy"));
    }
  }
  EXPECT_EQ(files, 126u);
}

}  // namespace
}  // namespace ebb::test
