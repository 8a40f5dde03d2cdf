// Who may ask a process, where, and what becomes of those who misbehave.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "ebb/base/error.hpp"
#include "observe/live_socket.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ebb::observe {
namespace {

namespace fs = std::filesystem;

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

// A process of a user that owns nothing here, if this test may start one.
template <typename Body>
int as_another_user(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(99);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

class LiveTest : public testing::Test {
 protected:
  LiveTest() { fs::permissions(folder_.path(), fs::perms(0700)); }
  OwnFolder own() const { return OwnFolder(folder_.path().c_str(), folder_.path().string()); }
  std::string own_path() const { return (folder_ / "ebb").string(); }

  int connected(const std::string& path) const {
    const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int made = ::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address);
    if (made == 0) return connection;
    ::close(connection);
    return -1;
  }
  static std::string received(int connection) {
    char bytes[1000];
    const ssize_t got = ::recv(connection, bytes, sizeof bytes, 0);
    return got <= 0 ? "" : std::string(bytes, static_cast<std::size_t>(got));
  }
  // As the recorder's thread does.
  static void serve(LiveSocket& socket, int turns = 5) {
    for (int i = 0; i < turns; ++i) {
      socket.serve([](std::string_view question) {
        return LiveSocket::Answer{.line = "heard " + std::string(question)};
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  test::TemporaryFolder folder_;
};

TEST_F(LiveTest, TheFolderIsMadeForItsUserOnly) {
  const OwnFolder folder = own();
  EXPECT_EQ(folder.path(), own_path());
  EXPECT_EQ(mode_of(own_path()), 0700u);
  const OwnFolder again = own();
  EXPECT_EQ(again.path(), own_path());
}

TEST_F(LiveTest, WithoutARuntimeFolderItIsUnderTheTemporaryOne) {
  const std::string temporary = folder_.path().string();
  const std::string wanted = temporary + "/ebb-" + std::to_string(::geteuid());
  EXPECT_EQ(OwnFolder(nullptr, temporary).path(), wanted);
  EXPECT_EQ(OwnFolder("", temporary).path(), wanted);
  EXPECT_EQ(OwnFolder("relative", temporary).path(), wanted);
  EXPECT_EQ(OwnFolder("/nowhere/at/all", temporary).path(), wanted);
  EXPECT_EQ(mode_of(wanted), 0700u);
}

TEST_F(LiveTest, ALinkAFileAnOpenFolderOrAnothersIsRefused) {
  const std::string temporary = folder_.path().string();
  const std::string wanted = temporary + "/ebb-" + std::to_string(::geteuid());
  const auto is_refused = [&] {
    return test::throws_error([&] { OwnFolder(nullptr, temporary); }, ErrorKind::kDevice, {});
  };
  fs::create_directory(folder_ / "elsewhere");
  fs::permissions(folder_ / "elsewhere", fs::perms(0700));
  fs::create_directory_symlink(folder_ / "elsewhere", wanted);
  EXPECT_TRUE(is_refused());
  fs::remove(wanted);
  std::ofstream(wanted).put('x');
  EXPECT_TRUE(is_refused());
  fs::remove(wanted);
  fs::create_directory(wanted);
  fs::permissions(wanted, fs::perms(0750));
  EXPECT_TRUE(is_refused());
  fs::permissions(wanted, fs::perms(0700));
  EXPECT_FALSE(is_refused());
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown(wanted.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(is_refused());
}

TEST_F(LiveTest, AnswersAQuestionAndHangsUp) {
  LiveSocket socket(own(), "1.sock");
  EXPECT_EQ(mode_of(socket.path()), 0600u);
  const int viewer = connected(socket.path());
  ASSERT_GE(viewer, 0);
  ASSERT_EQ(::send(viewer, "in", 2, 0), 2);
  serve(socket);
  ASSERT_EQ(::send(viewer, "fo\nmore", 7, 0), 7);
  serve(socket);
  EXPECT_EQ(received(viewer), "heard info\n");
  EXPECT_EQ(received(viewer), "");
  EXPECT_EQ(socket.answered(), 1u);
  ::close(viewer);
}

TEST_F(LiveTest, WhoeverIsSilentOrTalksTooMuchHoldsUpNobody) {
  LiveSocket socket(own(), "1.sock");
  std::vector<int> silent;
  for (std::size_t i = 0; i < LiveSocket::kMostViewers; ++i) {
    silent.push_back(connected(socket.path()));
  }
  serve(socket);
  const int talker = connected(socket.path());
  serve(socket);
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < start + 3 * LiveSocket::kPatience / 2) serve(socket);
  EXPECT_EQ(received(silent[0]), "") << "it was not turned away";
  const std::string much(LiveSocket::kMostQuestion + 1, 'x');
  EXPECT_GT(::send(talker, much.data(), much.size(), MSG_NOSIGNAL), 0);
  serve(socket, 20);
  EXPECT_EQ(received(talker), "");
  const int viewer = connected(socket.path());
  ASSERT_EQ(::send(viewer, "info\n", 5, 0), 5);
  serve(socket);
  EXPECT_EQ(received(viewer), "heard info\n");
  for (const int each : silent) ::close(each);
  ::close(talker);
  ::close(viewer);
}

TEST_F(LiveTest, AViewerThatIsGoneBeforeItsAnswerDoesNoHarm) {
  LiveSocket socket(own(), "1.sock");
  const int viewer = connected(socket.path());
  ASSERT_EQ(::send(viewer, "info\n", 5, 0), 5);
  ::close(viewer);
  serve(socket);  // no SIGPIPE
}

TEST_F(LiveTest, AStaleSocketIsReplacedAndTheOwnOneTakenAway) {
  { std::ofstream((own().path() + "/1.sock").c_str()).put('x'); }
  std::string path;
  {
    LiveSocket socket(own(), "1.sock");
    path = socket.path();
    const int viewer = connected(path);
    EXPECT_GE(viewer, 0);
    ::close(viewer);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(LiveTest, AnotherUsersProcessCannotConnect) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  LiveSocket socket(own(), "1.sock");
  // It cannot even get there.
  EXPECT_EQ(as_another_user([&] { return connected(socket.path()) < 0 ? 0 : 1; }), 0);
  // And where folder and socket are open to all by mistake, it is turned away by who it is.
  fs::permissions(folder_.path(), fs::perms(0777));
  fs::permissions(own_path(), fs::perms(0777));
  fs::permissions(socket.path(), fs::perms(0777));
  std::thread server([&] { serve(socket, 500); });
  const int told = as_another_user([&] {
    const int viewer = connected(socket.path());
    if (viewer < 0) return 2;
    if (::send(viewer, "info\n", 5, MSG_NOSIGNAL) < 0) return 0;
    return received(viewer).empty() ? 0 : 1;
  });
  server.join();
  EXPECT_EQ(told, 0);
  EXPECT_EQ(socket.answered(), 0u);
}

}  // namespace
}  // namespace ebb::observe
