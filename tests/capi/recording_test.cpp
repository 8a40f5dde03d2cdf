// Recording through the C ABI. What is inside of the file is src/observe's business; here it is made,
// refused, switched and bounded.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "capi/capi_fixture.hpp"
#include "support/temporary_folder.hpp"

namespace {

using ebb::test::TemporaryFolder;

ebb_record_options options_for(const std::string& path, uint32_t mode = EBB_RECORD_FULL) {
  ebb_record_options options = EBB_INIT(ebb_record_options);
  options.mode = mode;
  options.path = path.c_str();
  return options;
}

ebb_record_info info() {
  ebb_record_info info = EBB_INIT(ebb_record_info);
  EXPECT_EQ(ebb_record_read(&info), EBB_OK);
  return info;
}

TEST(RecordingAbi, WritesAFileThatBeginsAsOne) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.ebbrec").string();
  const ebb_record_options options = options_for(path);
  ASSERT_EQ(ebb_record_start(&options), EBB_OK) << ebb_last_error();
  EXPECT_EQ(info().mode, static_cast<uint32_t>(EBB_RECORD_FULL));
  EXPECT_EQ(info().sample_bytes, 512u << 10);
  EXPECT_EQ(ebb_record_wants_site(1), 1);
  EXPECT_EQ(ebb_record_start(&options), EBB_WRONG_STATE);
  ebb_record_host_heap(123456);
  EXPECT_EQ(ebb_record_mark("half way"), EBB_OK);
  EXPECT_EQ(ebb_record_set_mode(EBB_RECORD_COUNTERS), EBB_OK);
  EXPECT_EQ(info().mode, static_cast<uint32_t>(EBB_RECORD_COUNTERS));
  EXPECT_EQ(ebb_record_wants_site(1 << 30), 0);
  EXPECT_EQ(ebb_record_stop(), EBB_OK);
  EXPECT_EQ(info().mode, static_cast<uint32_t>(EBB_RECORD_OFF));
  std::ifstream in(path, std::ios::binary);
  std::string magic(7, ' ');
  in.read(magic.data(), 7);
  EXPECT_EQ(magic,
            "\x89"
            "EBBREC");
}

TEST(RecordingAbi, RefusesWhatItCannotDo) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.ebbrec").string();
  EXPECT_EQ(ebb_record_start(nullptr), EBB_INVALID_ARGUMENT);
  ebb_record_options options = options_for(path, EBB_RECORD_OFF);
  EXPECT_EQ(ebb_record_start(&options), EBB_INVALID_ARGUMENT);
  options.mode = 1000;
  EXPECT_EQ(ebb_record_start(&options), EBB_INVALID_ARGUMENT);
  options = options_for(path);
  options.path = nullptr;
  EXPECT_EQ(ebb_record_start(&options), EBB_INVALID_ARGUMENT);
  options = options_for(path);
  options.max_bytes = 5;
  EXPECT_EQ(ebb_record_start(&options), EBB_INVALID_ARGUMENT);
  const std::string nowhere = (folder / "no/such/folder").string();
  options = options_for(nowhere);
  EXPECT_EQ(ebb_record_start(&options), EBB_DEVICE_ERROR);
  EXPECT_NE(std::string(ebb_last_error()).find("cannot write"), std::string::npos);
  EXPECT_EQ(ebb_record_mark("x"), EBB_WRONG_STATE);
  EXPECT_EQ(ebb_record_mark(nullptr), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_record_set_mode(EBB_RECORD_FULL), EBB_WRONG_STATE);
  EXPECT_EQ(ebb_record_stop(), EBB_OK) << "there is none, and that is fine";
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
