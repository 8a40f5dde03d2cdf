// Every system call and every allocation of loading and saving fails in turn, once and for ever:
// it is done, or there is an error and the file is as it was; no descriptor, draft or tensor is
// left behind.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "ebb/io/npy.hpp"
#include "ebb/io/safetensors.hpp"
#include "ebb/ops/session.hpp"
#include "ebb/tensor/snapshot.hpp"
#include "fault/failing_files.hpp"
#include "fault/failing_new.hpp"
#include "support/audited.hpp"
#include "support/seed.hpp"
#include "support/temporary_folder.hpp"

namespace ebb::fault {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::size_t descriptors() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

class FileFaults : public testing::Test {
 protected:
  struct Subject {
    const char* name;
    std::function<void()> run;
    bool saves;
    std::function<bool(const std::string&)> whole{};  // of a file whose bytes differ by the run
  };

  FileFaults() {
    content_.tensors.emplace_back("a", filled(1));
    content_.tensors.emplace_back("b", filled(2));
    content_.metadata = {{"format", "pt"}};
    io::save_npy(folder_ / "in.npy", filled(3));
    io::save_safetensors(folder_ / "in.safetensors", content_);
    live_ = session_.context().memory().books.live;
    subjects_ = {
        {"save npy", [&] { io::save_npy(out_, content_.tensors[0].second); }, true},
        {"save safetensors", [&] { io::save_safetensors(out_, content_); }, true},
        {"save snapshot", [&] { write_snapshot(out_.string()); }, true,
         [](const std::string& text) { return text.starts_with("{") && text.ends_with("}\n"); }},
        {"load npy", [&] { check(io::load_npy(folder_ / "in.npy"), 3); }, false},
        {"load safetensors",
         [&] {
           const io::SafeTensors read = io::load_safetensors(folder_ / "in.safetensors");
           check(read.at("a"), 1);
           check(read.at("b"), 2);
         },
         false},
    };
  }

  static Tensor filled(float value) { return tensor(std::vector<float>(50'000, value), {50'000}); }
  static void check(const Tensor& tensor, float value) {
    const Spared spared;
    EXPECT_EQ(tensor.to_vector<float>(), std::vector<float>(50'000, value));
  }

  // Whether it was done.
  bool attempt(const Subject& subject) {
    try {
      subject.run();
      return true;
    } catch (const Error&) {
      return false;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  void expect_whole(const Subject& subject, bool done, std::size_t drafts) {
    if (subject.saves) {
      const std::string now = content_of(out_);
      const bool is_new = subject.whole ? subject.whole(now) : now == good_;
      EXPECT_TRUE(done ? is_new : now == "old" || is_new) << now.size() << " bytes";
    }
    EXPECT_EQ(folder_.files(), 2u + (subject.saves ? 1 : 0) + drafts);
    EXPECT_EQ(descriptors(), descriptors_);
    EXPECT_EQ(session_.context().memory().books.live, live_);
    EXPECT_EQ(session_.context().memory().books.held.count, 0u);
    Context::audit();
  }

  void begin(const Subject& subject) {
    subject.run();  // what is made once is there
    good_ = subject.saves ? content_of(out_) : "";
    descriptors_ = descriptors();
  }
  void clear(const Subject& subject) {
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".part") fs::remove(entry.path());
    }
    if (subject.saves) std::ofstream(out_) << "old";
  }

  Session session_;
  test::TemporaryFolder folder_;
  const fs::path out_ = folder_ / "out";
  io::SafeTensors content_;
  std::vector<Subject> subjects_;
  std::uint64_t live_ = 0;
  std::size_t descriptors_ = 0;
  std::string good_;
};

TEST_F(FileFaults, EverySystemCallFailsInTurn) {
  std::uint64_t points = 0, failed = 0;
  for (const Subject& subject : subjects_) {
    begin(subject);
    for (const FileFault fault : kFileFaults) {
      for (const bool for_ever : {false, true}) {
        for (std::uint64_t n = 1;; ++n) {
          SCOPED_TRACE(fmt::format("{}, call {}, fault {}, {}", subject.name, n,
                                   static_cast<int>(fault), for_ever ? "for ever" : "once"));
          clear(subject);
          FailingFiles files(fault, n, for_ever);
          bool done = false;
          {
            const FileCallsReplaced replaced(files);
            done = attempt(subject);
          }
          expect_whole(subject, done, files.kept_a_draft() ? 1 : 0);
          if (HasFailure()) return;
          if (files.calls() < n) {
            EXPECT_TRUE(done) << "nothing failed";
            break;
          }
          const bool harmless = fault == FileFault::kShort ||
                                (fault == FileFault::kInterrupted && !for_ever && !subject.saves);
          EXPECT_TRUE(done || !harmless);
          ++points;
          failed += done ? 0 : 1;
        }
      }
    }
    clear(subject);
    EXPECT_TRUE(attempt(subject)) << "after the failures";
    fs::remove(out_);
  }
  test::note("files: {} points of failing system calls, {} of them errors", points, failed);
  EXPECT_GE(points, 150u);
}

TEST_F(FileFaults, EveryNewFailsInTurn) {
  std::uint64_t points = 0;
  for (const Subject& subject : subjects_) {
    begin(subject);
    for (const bool for_ever : {false, true}) {
      for (std::uint64_t n = 1;; ++n) {
        SCOPED_TRACE(fmt::format("{}, allocation {}", subject.name, n));
        clear(subject);
        const std::int64_t before = outstanding();
        fail_new_at(n, for_ever);
        const bool done = attempt(subject);
        const bool failed = stop_failing_new() != 0;
        EXPECT_EQ(outstanding(), before);
        expect_whole(subject, done, 0);
        if (HasFailure()) return;
        if (!failed) break;
        ++points;
      }
    }
    fs::remove(out_);
  }
  test::note("files: {} allocations failed in turn", points);
  EXPECT_GT(points, 100u);
}

}  // namespace
}  // namespace ebb::fault
