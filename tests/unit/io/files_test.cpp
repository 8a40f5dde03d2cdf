// What both formats promise of their files: replaced in one step, read whole or not at all.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "base/file_calls.hpp"
#include "ebb/io/npy.hpp"
#include "ebb/io/safetensors.hpp"
#include "ebb/ops/session.hpp"
#include "io/excerpt.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ebb::io {
namespace {

constexpr std::int64_t kElements = 20'000;

Tensor filled(float value) { return tensor(std::vector<float>(kElements, value), {kElements}); }

bool is_of_one_piece(const Tensor& tensor) {
  const std::vector<float> values = tensor.to_vector<float>();
  return values.size() == kElements &&
         std::ranges::all_of(values, [&](float each) { return each == values[0]; });
}

struct Format {
  const char* file;
  void (*save)(const std::filesystem::path&, const Tensor&);
  Tensor (*load)(const std::filesystem::path&);
};
constexpr Format kFormats[] = {
    {"x.npy", save_npy, load_npy},
    {"x.safetensors",
     [](const std::filesystem::path& path, const Tensor& tensor) {
       save_safetensors(path, {{{"x", tensor}}, {}});
     },
     [](const std::filesystem::path& path) { return load_safetensors(path).at("x"); }}};

TEST(Files, AreNeverTornByConcurrentSaves) {
  constexpr int kSavers = 6, kSaves = 20, kLoaders = 2, kLoads = 950;
  for (const Format& format : kFormats) {
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder / format.file;
    {
      Session session;
      format.save(path, filled(0));
    }
    std::atomic<int> torn = 0, failed = 0;
    {
      std::vector<std::jthread> threads;
      for (int saver = 0; saver < kSavers; ++saver) {
        threads.emplace_back([&, saver] {
          Session session;
          for (int i = 0; i < kSaves; ++i) {
            try {
              format.save(path, filled(static_cast<float>(saver)));
            } catch (const Error&) {
              ++failed;
            }
          }
        });
      }
      for (int loader = 0; loader < kLoaders; ++loader) {
        threads.emplace_back([&] {
          Session session;
          for (int i = 0; i < kLoads; ++i) {
            try {
              torn += is_of_one_piece(format.load(path)) ? 0 : 1;
            } catch (const Error&) {
              ++torn;
            }
          }
        });
      }
    }
    EXPECT_EQ(failed, 0) << format.file;
    EXPECT_EQ(torn, 0) << format.file;
    EXPECT_EQ(folder.files(), 1u) << "no draft stays";
  }
}

// A killed process of the same number has left its drafts.
TEST(Files, StepOverDraftsThatAreInTheWay) {
  struct InTheWay : FileCalls {
    int left = 3;
    int open(const char* path, int flags, mode_t mode) noexcept override {
      if ((flags & O_EXCL) != 0 && left-- > 0) std::ofstream(path) << "left behind";
      return FileCalls::open(path, flags, mode);
    }
  };
  Session session;
  const test::TemporaryFolder folder;
  InTheWay calls;
  const FileCallsReplaced replaced(calls);
  save_npy(folder / "x.npy", filled(1));
  EXPECT_TRUE(is_of_one_piece(load_npy(folder / "x.npy")));
  EXPECT_EQ(folder.files(), 4u);
}

// Somebody cuts the file short between the header and the elements.
TEST(Files, CutShortWhileTheyAreReadAreAnError) {
  struct Cutting : FileCalls {
    std::filesystem::path path;
    ssize_t pread(int file, void* to, std::size_t bytes, off_t at) noexcept override {
      if (bytes > 4096) std::filesystem::resize_file(path, 8192);
      return FileCalls::pread(file, to, bytes, at);
    }
  };
  Session session;
  const test::TemporaryFolder folder;
  for (const Format& format : kFormats) {
    Cutting calls;
    calls.path = folder / format.file;
    format.save(calls.path, filled(1));
    const FileCallsReplaced replaced(calls);
    EXPECT_ERROR(format.load(calls.path), kDevice, "has ended at 8192 meanwhile");
    EXPECT_ERROR(format.load(calls.path), kInvalidArgument, format.file);
  }
  EXPECT_EQ(session.context().memory().books.live, 0u);
}

TEST(Files, ThatAreNoPlainFilesAreRefused) {
  Session session;
  const test::TemporaryFolder folder;
  const std::filesystem::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const Format& format : kFormats) {
    EXPECT_ERROR(format.load(pipe), kDevice, "not a plain file");
    EXPECT_ERROR(format.load(folder.path()), kDevice, "not a plain file");
  }
}

TEST(Files, AreWrittenToWhatALinkNames) {
  Session session;
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "x.npy", link = folder.path() / "link.npy";
  std::filesystem::create_symlink("x.npy", link);  // nothing is there yet
  for (const float value : {1.0f, 2.0f}) {
    save_npy(link, filled(value));
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(load_npy(file).to_vector<float>()[0], value);
  }
}

TEST(Files, ReplaceNoPipesAndDevices) {
  Session session;
  const test::TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe", link = folder.path() / "link";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(pipe, link);
  for (const auto& path : {pipe, link}) {
    EXPECT_ERROR(save_npy(path, filled(1)), kDevice, "it is not a plain file");
  }
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

// A tensor that does not fit is refused before its elements are read.
TEST(Files, AreReadAfterTheirTensorWasMade) {
  struct Counting : FileCalls {
    std::size_t most = 0;
    ssize_t pread(int file, void* to, std::size_t bytes, off_t at) noexcept override {
      most = std::max(most, bytes);
      return FileCalls::pread(file, to, bytes, at);
    }
  };
  const test::TemporaryFolder folder;
  for (const Format& format : kFormats) {
    {
      Session session;
      format.save(folder / format.file, tensor(std::vector<float>(3 << 20), {3 << 20}));
    }
    Session session({.budget = 4 << 20});
    Counting calls;
    const FileCallsReplaced replaced(calls);
    EXPECT_THROW(static_cast<void>(format.load(folder / format.file)), OutOfMemory);
    EXPECT_LT(calls.most, 4096u);
  }
}

// Of this thread: others may have the processor meanwhile.
double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST(SafeTensorsHeader, TakesTimeByTheTensor) {
  const auto seconds = [](int tensors) {
    Session session;
    SafeTensors content;
    const Tensor one = tensor({1.0f}, {1});
    for (int i = 0; i < tensors; ++i) {
      content.tensors.emplace_back(fmt::format("layer.{}.weight", i), one);
    }
    const double start = processor_seconds();
    const SafeTensors read = parse_safetensors(format_safetensors(content));
    EXPECT_EQ(read.tensors.size(), content.tensors.size());
    return processor_seconds() - start;
  };
  seconds(1000);
  const double few = seconds(5000), many = seconds(40'000);
  EXPECT_LT(many, 24 * few) << "8 times as many; the square would be 64";
}

TEST(SafeTensorsHeader, IsQuotedInShort) {
  Session session;
  const std::string name(1 << 20, 'x');
  const auto header = [&](std::string_view text) {
    std::string file;
    for (int i = 0; i < 8; ++i) file += static_cast<char>(text.size() >> (8 * i));
    file += text;
    const auto bytes = std::as_bytes(std::span(file));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const std::string entry = R"({"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  const std::string texts[] = {
      fmt::format(R"({{"{0}":{1},"{0}":{1}}})", name, entry),
      fmt::format(R"({{"{}":1}})", name),
      fmt::format(R"({{"{}":{}}})", name, entry),
      fmt::format(R"({{"a":{{"dtype":"{}","shape":[],"data_offsets":[0,0]}}}})", name),
      fmt::format(R"({{"a":{{"dtype":"U8","shape":"{}","data_offsets":[0,0]}}}})", name),
      fmt::format(R"({{"a":{{"dtype":"U8","shape":[],"data_offsets":"{}"}}}})", name),
      fmt::format(R"({{"__metadata__":{{"{0}":["{0}"]}}}})", name),
      fmt::format(R"({{"{})", name),
  };
  for (const std::string& text : texts) {
    try {
      static_cast<void>(parse_safetensors(header(text)));
      ADD_FAILURE() << text.substr(0, 40);
    } catch (const Error& error) {
      EXPECT_LT(std::string_view(error.what()).size(), 400u) << error.what();
    }
  }
}

TEST(Excerpt, EndsWithAWholeCharacter) {
  EXPECT_EQ(excerpt("short"), "short");
  EXPECT_EQ(excerpt(std::string(80, 'a')), std::string(80, 'a'));
  EXPECT_EQ(excerpt(std::string(81, 'a')), std::string(80, 'a') + "...");
  EXPECT_EQ(excerpt(std::string(78, 'a') + "\xe2\x82\xac\xe2\x82\xac"),
            std::string(78, 'a') + "...");
  EXPECT_EQ(excerpt(std::string(79, 'a') + "\xc3\xa9!"), std::string(79, 'a') + "...");
}

}  // namespace
}  // namespace ebb::io
