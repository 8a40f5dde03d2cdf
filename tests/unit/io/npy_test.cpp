#include "ebb/io/npy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "ebb/ops/session.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"

namespace ebb::io {
namespace {

std::vector<std::byte> file_of(std::string_view header, std::string_view data, char version = 1) {
  std::string text("\x93NUMPY", 6);
  text += {version, '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    text += static_cast<char>(header.size() >> (8 * i));
  text.append(header).append(data);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

constexpr std::string_view kTwoBytes =
    "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n";

TEST(Npy, ReadsWhatItWrote) {
  Session session;
  const Tensor x = tensor({1.5f, -2.0f, 0.0f, 3.0f, 4.0f, 5.0f}, {2, 3});
  const std::string path = testing::TempDir() + "ebb_npy_test.npy";
  save_npy(path, x);
  const Tensor y = load_npy(path);
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_EQ(y.to_vector<float>(), x.to_vector<float>());
  std::filesystem::remove(path);
}

TEST(Npy, ReadsEveryVersion) {
  Session session;
  for (const char version : {1, 2, 3}) {
    EXPECT_EQ(parse_npy(file_of(kTwoBytes, "ab", version)).to_vector<std::uint8_t>(),
              (std::vector<std::uint8_t>{'a', 'b'}));
  }
}

TEST(Npy, ReadsFortranOrder) {
  Session session;
  const Tensor x = parse_npy(
      file_of("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", "\1\2\3\4\5\6"));
  EXPECT_EQ(x.to_vector<std::int8_t>(), (std::vector<std::int8_t>{1, 3, 5, 2, 4, 6}));
}

TEST(Npy, TakesAnyTrueByteAsTrue) {
  Session session;
  const Tensor x = parse_npy(file_of("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }",
                                     std::string_view("\0\1\7", 3)));
  EXPECT_EQ(x.to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{0, 1, 1}));
}

TEST(Npy, RefusesWhatIsMalformed) {
  Session session;
  const auto header = [](std::string_view text) { return file_of(text, "ab"); };
  EXPECT_ERROR(parse_npy({}), kInvalidArgument, "[npy] the file has 0 bytes");
  EXPECT_ERROR(parse_npy(file_of(kTwoBytes, "a")), kInvalidArgument, "1 bytes of elements",
               "[2] has 2");
  EXPECT_ERROR(parse_npy(file_of(kTwoBytes, "abc")), kInvalidArgument, "3 bytes of elements");
  EXPECT_ERROR(parse_npy(file_of(kTwoBytes, "ab", 4)), kInvalidArgument,
               "version 4 was given, 1 to 3");
  EXPECT_ERROR(parse_npy(header("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}")),
               kUnsupported, "dtype '>f4' was given, <f4");
  EXPECT_ERROR(parse_npy(header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}")),
               kInvalidArgument, "a string is missing");
  EXPECT_ERROR(parse_npy(header("{'descr': '|u1', 'shape': (2,)}")), kInvalidArgument,
               "lacks one of");
  EXPECT_ERROR(parse_npy(header("{'descr': '|u1', 'descr': '|u1', 'shape': (2,)}")),
               kInvalidArgument, "key 'descr' is in the header");
  EXPECT_ERROR(parse_npy(header("{'descr': '|u1', 'fortran_order': 1, 'shape': (2,)}")),
               kInvalidArgument, "neither True nor False");
  EXPECT_ERROR(parse_npy(header("{'descr': '|u1', 'fortran_order': False, 'shape': (-2,)}")),
               kInvalidArgument, "an extent is missing or not allowed");
  EXPECT_ERROR(
      parse_npy(header("{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,2)}")),
      kInvalidArgument, "more than 6 extents");
  EXPECT_ERROR(parse_npy(header("{'descr': '<f8', 'fortran_order': False, 'shape': "
                                "(4294967296, 4294967296)}")),
               kInvalidArgument, "4294967296");
  EXPECT_ERROR(parse_npy(header("{'descr': '|u1', 'fortran_order': False, 'shape': (2,)} x")),
               kInvalidArgument, "goes on after");
  EXPECT_ERROR(parse_npy(header("{'descr': '|u1")), kInvalidArgument, "does not end");
  std::vector<std::byte> cut = file_of(kTwoBytes, "ab");
  for (std::size_t size = 0; size < cut.size(); ++size) {
    EXPECT_ERROR(parse_npy(std::span(cut).first(size)), kInvalidArgument, "[npy]");
  }
  EXPECT_EQ(session.context().memory().books.live, 0u);
}

TEST(Npy, SaysWhichFileItCannotReach) {
  Session session;
  EXPECT_ERROR(load_npy("/nowhere/x.npy"), kDevice, "[npy] cannot read /nowhere/x.npy");
  EXPECT_ERROR(load_npy(testing::TempDir()), kDevice, "not a plain file");
  const std::string path = testing::TempDir() + "ebb_npy_bad.npy";
  std::ofstream(path) << "not a npy file";
  EXPECT_ERROR(load_npy(path), kInvalidArgument, "does not begin as a .npy file", path);
  std::filesystem::remove(path);
  const Tensor x = tensor({1.0f}, {1});
  EXPECT_ERROR(save_npy("/nowhere/x.npy", x), kDevice, "[npy] cannot write /nowhere/x.npy");
  EXPECT_ERROR(save_npy("/nowhere/x.npy", Tensor()), kInvalidArgument, "none was given");
}

TEST(Npy, HasNoNameForBfloat16) {
  Session session;
  const Tensor x = ebb::detail::tensor_of(DType::kBfloat16, {1}, std::vector<std::byte>(2));
  EXPECT_ERROR(format_npy(x), kUnsupported, "no name for dtype bfloat16");
}

}  // namespace
}  // namespace ebb::io
