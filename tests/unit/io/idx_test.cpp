#include "ebb/io/idx.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "ebb/ops/session.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"

namespace ebb::io {
namespace {

using Bytes = std::vector<std::uint8_t>;

Tensor parse(const Bytes& bytes) { return parse_idx(std::as_bytes(std::span(bytes))); }

TEST(Idx, ReadsBytes) {
  Session session;
  const Tensor x = parse({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255});
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.to_vector<std::uint8_t>(), (Bytes{1, 2, 3, 4, 5, 255}));
}

TEST(Idx, TurnsLargerElements) {
  Session session;
  EXPECT_EQ(parse({0, 0, 12, 1, 0, 0, 0, 2, 0, 0, 1, 2, 255, 255, 255, 254}).to_vector<int>(),
            (std::vector<int>{258, -2}));
  EXPECT_EQ(parse({0, 0, 13, 0, 0x3F, 0xC0, 0, 0}).item<float>(), 1.5f);
  EXPECT_EQ(parse({0, 0, 14, 0, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0}).item<double>(), 1.5);
}

TEST(Idx, ReadsFilesAndNothing) {
  Session session;
  const std::string path = testing::TempDir() + "ebb_idx_test";
  std::ofstream(path, std::ios::binary).write("\0\0\x09\x02\0\0\0\0\0\0\0\x07", 12);
  EXPECT_EQ(load_idx(path).shape(), (Shape{0, 7}));
  std::filesystem::remove(path);
  EXPECT_ERROR(static_cast<void>(load_idx(path)), kDevice, "[idx]", "ebb_idx_test");
}

TEST(Idx, RefusesWhatIsNotWellFormed) {
  Session session;
  const std::vector<Bytes> cases{
      {},
      {0, 0, 8},
      {1, 0, 8, 0, 7},
      {0, 0, 7, 0, 7},                 // no dtype
      {0, 0, 8, 1, 0, 0, 0},           // ends in its head
      {0, 0, 8, 1, 0, 0, 0, 2, 1},     // too few elements
      {0, 0, 8, 1, 0, 0, 0, 1, 1, 1},  // too many
      {0, 0, 8, 7, 0, 0, 0, 1},        // rank
      {0, 0, 8, 255},
  };
  for (const Bytes& each : cases) {
    EXPECT_ERROR(static_cast<void>(parse(each)), kInvalidArgument, "[idx]");
  }
  Bytes huge{0, 0, 14, 6};
  huge.insert(huge.end(), 24, 255);
  EXPECT_THROW(static_cast<void>(parse(huge)), Error);
  EXPECT_ERROR(static_cast<void>(parse({0, 0, 11, 0, 0, 0})), kUnsupported, "int16");
}

}  // namespace
}  // namespace ebb::io
