// Recording through the C ABI. What is inside of the file is src/observe's business; here it is made,
// refused, switched and bounded.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
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

std::size_t open_files() {
  namespace fs = std::filesystem;
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

// Nobody may be there to read a pipe: the program would wait.
TEST(RecordingAbi, WaitsForNobodyAndLeavesNothingOpen) {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  const std::size_t before = open_files();
  for (const std::string& path : {pipe, std::string("/dev/full")}) {
    const ebb_record_options options = options_for(path);
    EXPECT_EQ(ebb_record_start(&options), EBB_DEVICE_ERROR) << path;
  }
  EXPECT_EQ(open_files(), before);
  close(reader);
  const ebb_record_options options = options_for(pipe);
  EXPECT_EQ(ebb_record_start(&options), EBB_DEVICE_ERROR);
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
  options.path = "";
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

// Viewers: a folder of the test's own stands for the user's.
class LiveAbi : public testing::Test {
 protected:
  LiveAbi() {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0700));
    ::setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
  }
  ~LiveAbi() override {
    ebb_record_stop();
    ::unsetenv("XDG_RUNTIME_DIR");
  }
  void start() {
    ebb_record_options options = EBB_INIT(ebb_record_options);
    options.mode = EBB_RECORD_FULL;
    ASSERT_EQ(ebb_record_start(&options), EBB_OK) << ebb_last_error();
  }
  static ebb_live_info live() {
    ebb_live_info info = EBB_INIT(ebb_live_info);
    EXPECT_EQ(ebb_live_read(&info), EBB_OK);
    return info;
  }
  // What the process answers; "" where nobody does.
  static std::string asked(const std::string& question) {
    const int connection = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string(live().path).copy(address.sun_path, sizeof address.sun_path - 1);
    std::string answer;
    if (::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        ::send(connection, (question + '\n').data(), question.size() + 1, MSG_NOSIGNAL) > 0) {
      char bytes[2000];
      const ssize_t got = ::recv(connection, bytes, sizeof bytes, 0);
      if (got > 0) answer.assign(bytes, static_cast<std::size_t>(got));
    }
    ::close(connection);
    return answer;
  }
  TemporaryFolder folder_;
};

TEST_F(LiveAbi, BelongsToARecordingAndGoesWithIt) {
  EXPECT_EQ(ebb_live_start(nullptr), EBB_WRONG_STATE);
  EXPECT_EQ(ebb_live_stop(), EBB_OK);
  EXPECT_EQ(live().on, 0u);
  EXPECT_EQ(ebb_record_holder(1, "x"), EBB_WRONG_STATE);
  start();
  EXPECT_EQ(ebb_live_start(nullptr), EBB_OK) << ebb_last_error();
  EXPECT_EQ(ebb_live_start(nullptr), EBB_WRONG_STATE);
  EXPECT_EQ(live().on, 1u);
  const std::string socket = live().path, pid = std::to_string(::getpid());
  EXPECT_EQ(socket, (folder_ / ("ebb/" + pid + ".sock")).string());
  EXPECT_TRUE(std::filesystem::exists(folder_ / ("ebb/" + pid + ".ebbrec")));
  EXPECT_EQ(ebb_live_stop(), EBB_OK);
  EXPECT_FALSE(std::filesystem::exists(socket));
  EXPECT_EQ(ebb_live_start(nullptr), EBB_OK);
  EXPECT_EQ(ebb_record_holder(1, nullptr), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_record_holder(1, std::string(100'000, 'x').c_str()), EBB_OK);
  EXPECT_EQ(ebb_record_stop(), EBB_OK);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "ebb"));
  EXPECT_EQ(live().on, 0u);
}

TEST_F(LiveAbi, AnswersWhatItIsAskedAndNothingElse) {
  start();
  ASSERT_EQ(ebb_live_start(nullptr), EBB_OK);
  EXPECT_NE(asked("info").find("\"pid\":" + std::to_string(::getpid())), std::string::npos);
  EXPECT_NE(asked("mode 1").find("\"mode\":1"), std::string::npos);
  ebb_record_mark("a turn later");  // what it says of itself is as of the turn before
  EXPECT_EQ(info().mode, static_cast<uint32_t>(EBB_RECORD_COUNTERS));
  for (const char* question :
       {"mode 0", "mode 9", "mode", "", "stop", "INFO", "collect", "holders"}) {
    EXPECT_NE(asked(question).find("error"), std::string::npos) << question;
  }
  ebb_record_mark("a turn later");
  EXPECT_EQ(live().answered, 10u);
}

TEST_F(LiveAbi, TheHostIsAskedAndCannotWaitForItself) {
  struct Host {
    std::atomic<uint32_t> what{0};
    std::atomic<int> refused{0};
  } host;
  start();
  ebb_live_options options = EBB_INIT(ebb_live_options);
  options.user = &host;
  options.asked = [](void* user, uint32_t what) {
    auto& self = *static_cast<Host*>(user);
    self.what = what;
    self.refused += ebb_record_mark("from within") == EBB_WRONG_STATE;
    self.refused += ebb_record_stop() == EBB_WRONG_STATE;
    self.refused += ebb_live_stop() == EBB_WRONG_STATE;
  };
  ASSERT_EQ(ebb_live_start(&options), EBB_OK);
  EXPECT_NE(asked("collect").find("asked"), std::string::npos);
  EXPECT_EQ(host.what, static_cast<uint32_t>(EBB_ASKED_COLLECT));
  asked("holders");
  EXPECT_EQ(host.what, static_cast<uint32_t>(EBB_ASKED_HOLDERS));
  EXPECT_EQ(host.refused, 6);
  EXPECT_EQ(ebb_record_mark("from outside"), EBB_OK);
}

TEST_F(LiveAbi, TheChildOfAForkIsNotSeen) {
  start();
  ASSERT_EQ(ebb_live_start(nullptr), EBB_OK);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(live().on == 0 && ebb_live_start(nullptr) == EBB_WRONG_STATE ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_NE(asked("info"), "");
}

TEST_F(LiveAbi, AFolderThatIsOpenToOthersIsRefused) {
  std::filesystem::create_directory(folder_ / "ebb");
  std::filesystem::permissions(folder_ / "ebb", std::filesystem::perms(0755));
  // Then the one under the temporary folder is taken, which is the user's own or refused in turn.
  ebb_record_options options = EBB_INIT(ebb_record_options);
  options.mode = EBB_RECORD_COUNTERS;
  const ebb_status started = ebb_record_start(&options);
  if (started == EBB_OK) {
    ASSERT_EQ(ebb_live_start(nullptr), EBB_OK);
    EXPECT_EQ(std::string(live().path).find(folder_.path().string()), std::string::npos);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "ebb"));
}

}  // namespace
