#include "ebb/io/safetensors.hpp"

#include <gtest/gtest.h>

#include "ebb/ops/session.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"

namespace ebb::io {
namespace {

std::vector<std::byte> file_of(std::string_view header, std::string_view data = {}) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(header.size() >> (8 * i));
  text.append(header).append(data);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(SafeTensors, ReadsWhatItWrote) {
  Session session;
  SafeTensors content;
  content.tensors.emplace_back("small", tensor<std::uint8_t>({1, 2, 3}, {3}));
  content.tensors.emplace_back("w\"é", tensor({1.5f, -2.0f, 0.0f, 3.0f}, {2, 2}));
  content.tensors.emplace_back("none", tensor<std::int64_t>(std::vector<std::int64_t>{}, {0, 4}));
  content.tensors.emplace_back(
      "half", ebb::detail::tensor_of(DType::kBfloat16, {}, std::vector<std::byte>(2)));
  content.metadata = {{"format", "pt"}};
  const std::string path = testing::TempDir() + "ebb_test.safetensors";
  save_safetensors(path, content);
  const SafeTensors read = load_safetensors(path);
  std::filesystem::remove(path);
  EXPECT_EQ(read.metadata, content.metadata);
  ASSERT_EQ(read.tensors.size(), 4u);
  EXPECT_EQ(read.at("w\"é").to_vector<float>(), (std::vector<float>{1.5f, -2.0f, 0.0f, 3.0f}));
  EXPECT_EQ(read.at("small").to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(read.at("none").shape(), (Shape{0, 4}));
  EXPECT_EQ(read.at("half").dtype(), DType::kBfloat16);
  EXPECT_ERROR(read.at("more"), kInvalidArgument, "there is no tensor 'more'");
}

TEST(SafeTensors, WritesAlignedData) {
  Session session;
  SafeTensors content;
  content.tensors.emplace_back("byte", tensor<std::uint8_t>({7}, {1}));
  content.tensors.emplace_back("wide", tensor<std::int64_t>({9}, {1}));
  const std::vector<std::byte> file = format_safetensors(content);
  EXPECT_EQ((file.size() - 9) % 8, 0u);  // length, header, 8 bytes, 1 byte
  EXPECT_EQ(file.back(), std::byte{7});
}

TEST(SafeTensors, ReadsAFileOfNothing) {
  Session session;
  EXPECT_TRUE(parse_safetensors(file_of("{}")).tensors.empty());
  EXPECT_TRUE(parse_safetensors(file_of("{}      ")).tensors.empty());
}

TEST(SafeTensors, RefusesWhatIsMalformed) {
  Session session;
  const auto one = [](std::string_view dtype, std::string_view shape, std::string_view offsets) {
    return file_of(fmt::format(R"({{"a":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", dtype,
                               shape, offsets),
                   "abcd");
  };
  const auto header = [](std::string_view text) { return file_of(text, "abcd"); };
  const std::vector<std::byte> cut = file_of("{}   ");
  EXPECT_EQ(parse_safetensors(one("U8", "[4]", "[0,4]")).tensors.size(), 1u);
  EXPECT_ERROR(parse_safetensors({}), kInvalidArgument, "the file has 0 bytes");
  EXPECT_ERROR(parse_safetensors(std::vector<std::byte>(64, std::byte{0xff})), kInvalidArgument,
               "18446744073709551615 bytes, 100000000 are allowed");
  EXPECT_ERROR(parse_safetensors(std::span(cut).first(10)), kInvalidArgument, "ends before");
  EXPECT_ERROR(parse_safetensors(file_of("")), kInvalidArgument, "does not begin with an object");
  EXPECT_ERROR(parse_safetensors(file_of("[]")), kInvalidArgument, "does not begin with an object");
  EXPECT_ERROR(parse_safetensors(file_of("{")), kInvalidArgument, "is not JSON");
  EXPECT_ERROR(parse_safetensors(file_of("{}x")), kInvalidArgument, "is not JSON");
  EXPECT_ERROR(parse_safetensors(header(R"({"a":1})")), kInvalidArgument, "not just dtype");
  EXPECT_ERROR(parse_safetensors(one("U16", "[2]", "[0,4]")), kUnsupported, "dtype \"U16\"");
  EXPECT_ERROR(parse_safetensors(one("U8", "4", "[0,4]")), kInvalidArgument, "shape 4 was given");
  EXPECT_ERROR(parse_safetensors(one("U8", "[-4]", "[0,4]")), kInvalidArgument, "shape [-4]");
  EXPECT_ERROR(parse_safetensors(one("U8", "[1,1,1,1,1,1,4]", "[0,4]")), kInvalidArgument,
               "up to 6");
  EXPECT_ERROR(parse_safetensors(one("U8", "[18446744073709551615]", "[0,4]")), kInvalidArgument,
               "shape [");
  EXPECT_ERROR(parse_safetensors(one("F64", "[4294967296,4294967296]", "[0,4]")), kInvalidArgument,
               "4294967296");
  EXPECT_ERROR(parse_safetensors(one("U8", "[4]", "[0]")), kInvalidArgument, "a begin and an end");
  EXPECT_ERROR(parse_safetensors(one("U8", "[4]", "[4,0]")), kInvalidArgument, "4 bytes from 0 on");
  EXPECT_ERROR(parse_safetensors(one("U8", "[3]", "[1,4]")), kInvalidArgument, "3 bytes from 0 on");
  EXPECT_ERROR(parse_safetensors(one("U8", "[3]", "[0,3]")), kInvalidArgument,
               "have 3 bytes, the file has 4");
  EXPECT_ERROR(parse_safetensors(one("U8", "[8]", "[0,8]")), kInvalidArgument,
               "have 8 bytes, the file has 4");
  EXPECT_ERROR(parse_safetensors(header(R"({"__metadata__":{"a":1}})")), kInvalidArgument,
               "note 'a' is 1");
  EXPECT_ERROR(
      parse_safetensors(header(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{}})")),
      kInvalidArgument, "key 'a' is twice");
  EXPECT_ERROR(parse_safetensors(header(R"({"a":{"dtype":"U8","dtype":"U8"}})")), kInvalidArgument,
               "key 'dtype' is twice");
  EXPECT_ERROR(parse_safetensors(header(R"({"a":[[[[[]]]]]})")), kInvalidArgument, "nested");
  EXPECT_EQ(session.context().memory().books.live, 0u);
}

TEST(SafeTensors, RefusesNamesThatAreNone) {
  Session session;
  SafeTensors content;
  content.tensors.emplace_back("a", tensor({1.0f}, {1}));
  content.tensors.emplace_back("a", tensor({1.0f}, {1}));
  EXPECT_ERROR(format_safetensors(content), kInvalidArgument, "'a' is twice");
  content.tensors[1].first = "__metadata__";
  EXPECT_ERROR(format_safetensors(content), kInvalidArgument, "'__metadata__' is twice");
  content.tensors[1].first = "\xff";
  EXPECT_ERROR(format_safetensors(content), kInvalidArgument, "not UTF-8");
  EXPECT_ERROR(load_safetensors("/nowhere/x"), kDevice, "[safetensors] cannot read");
}

// All tensors of a file or none: also where the memory ends within.
TEST(SafeTensors, LeavesNothingWhereMemoryEnds) {
  std::vector<std::byte> file;
  {
    Session session;
    SafeTensors content;
    for (const char* name : {"a", "b", "c"}) {
      content.tensors.emplace_back(name, tensor(std::vector<float>(1 << 20), {1 << 20}));
    }
    file = format_safetensors(content);
  }
  Session session({.budget = 10 << 20});
  EXPECT_THROW(static_cast<void>(parse_safetensors(file)), OutOfMemory);
  EXPECT_EQ(session.context().memory().books.live, 0u);
}

}  // namespace
}  // namespace ebb::io
