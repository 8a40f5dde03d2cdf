// The limits of a process, on the size of files and on threads, are errors of the calls that meet them,
// not the end of the program.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <functional>
#include <thread>

#include "ebb.h"
#include "ebb/base/error.hpp"
#include "ebb/io/npy.hpp"
#include "ebb/ops/session.hpp"
#include "ebb/tensor/snapshot.hpp"
#include "process/child.hpp"
#include "support/temporary_folder.hpp"

namespace ebb::test {
namespace {

constexpr unsigned kSeconds = 60;
constexpr int kRight = 0, kNoError = 1, kFileLeft = 2, kSignalLeft = 3;

void limit_files(rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

bool signal_is_left() {
  sigset_t pending, blocked;
  sigpending(&pending);
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&pending, SIGXFSZ) == 1 || sigismember(&blocked, SIGXFSZ) == 1;
}

int refused(const TemporaryFolder& folder, const std::function<void()>& save) {
  limit_files(1000);
  try {
    save();
    return kNoError;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kDevice) return kNoError;
  }
  return folder.files() != 0 ? kFileLeft : signal_is_left() ? kSignalLeft : kRight;
}

TEST(FileLimit, IsAnErrorWhereTensorsAreSaved) {
  const TemporaryFolder folder;
  EXPECT_EQ(in_forked_child(kSeconds,
                            [&] {
                              Session session;
                              const Tensor many = tensor(std::vector<float>(10000, 1.0f), {10000});
                              return refused(folder,
                                             [&] { io::save_npy(folder / "many.npy", many); });
                            }),
            kRight);
}

TEST(FileLimit, IsAnErrorWhereTheBooksAreWritten) {
  const TemporaryFolder folder;
  EXPECT_EQ(in_forked_child(kSeconds,
                            [&] {
                              Session session;
                              std::vector<Tensor> some;
                              for (int i = 0; i < 1000; ++i) some.push_back(scalar(1.0f));
                              return refused(folder,
                                             [&] { write_snapshot((folder / "books").string()); });
                            }),
            kRight);
}

// It is written by a thread of Ebb's own.
TEST(FileLimit, EndsARecordingAndNotTheProgram) {
  const TemporaryFolder folder;
  const auto record = [&] {
    limit_files(20'000);
    const std::string path = (folder / "recording").string();
    auto options = EBB_INIT(ebb_record_options);
    options.mode = EBB_RECORD_FULL;
    options.path = path.c_str();
    if (ebb_record_start(&options) != EBB_OK) return kNoError;
    const std::string line(1000, 'x');
    auto info = EBB_INIT(ebb_record_info);
    while (info.failed == 0) {
      ebb_record_mark(line.c_str());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (ebb_record_read(&info) != EBB_OK) return kNoError;
    }
    return ebb_record_stop() == EBB_DEVICE_ERROR ? kRight : kNoError;
  };
  EXPECT_EQ(in_forked_child(kSeconds, record), kRight);
}

// Stacks that no address space has room for: no thread can be started any more.
TEST(ThreadLimit, IsAnErrorWhereARecordingBegins) {
  const TemporaryFolder folder;
  const auto record = [&] {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{1} << 46);
    pthread_setattr_default_np(&attributes);
    const std::string path = (folder / "recording").string();
    auto options = EBB_INIT(ebb_record_options);
    options.mode = EBB_RECORD_FULL;
    options.path = path.c_str();
    if (ebb_record_start(&options) != EBB_DEVICE_ERROR) return kNoError;
    if (std::string(ebb_last_error()).find("[record] no thread") != 0) return kNoError;
    return ebb_record_stop() == EBB_OK ? kRight : kNoError;
  };
  EXPECT_EQ(in_forked_child(kSeconds, record), kRight);
}

}  // namespace
}  // namespace ebb::test
