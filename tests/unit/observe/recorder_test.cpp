// The recorder, over events that a test makes up, and a list of the living that it keeps.
#include "observe/recorder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include "ebb/base/error.hpp"
#include "ebb/memory/device.hpp"
#include "ebb/memory/site_table.hpp"
#include "memory/event_ring.hpp"
#include "observe/recording_files.hpp"
#include "observe/replay.hpp"
#include "observe/sampler.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ebb::observe {
namespace {

template <typename Call>
void expect_error(ErrorKind kind, Call&& call) {
  EXPECT_TRUE(test::throws_error(call, kind, {}));
}

constexpr auto kJunk = EventKind(200);  // no reader knows it

// The recorder reads it on a thread of its own, as it does the real books.
class FakeBooks final : public LiveSource {
 public:
  void make(std::uint64_t slot, std::uint64_t bytes = 1000, std::uint32_t site = 0) {
    const TraceEvent birth{.id = 1u << 24 | slot,
                           .bytes = bytes,
                           .storage = 0x1000 * (slot + 1),
                           .site = site,
                           .kind = kTensorBorn,
                           .detail = 1,
                           .device = device,
                           .flags = kWithStorage};
    const std::lock_guard guard(mutex_);
    live[birth.id] = {.birth = birth, .rank = 2, .dims = {5, 50}};
    ++books_.created;
    ++books_.live;
    books_.created_storages.add(bytes);
    books_.storages.add(bytes);
    trace::record(birth);
  }
  void end(std::uint64_t slot, Reason reason = Reason::kDisposed) {
    const std::lock_guard guard(mutex_);
    const auto found = live.find(1u << 24 | slot);
    TraceEvent event = found->second.birth;
    event.kind = kTensorEnded;
    event.site = 0;
    event.detail = static_cast<std::uint8_t>(reason);
    live.erase(found);
    --books_.live;
    ++books_.ended[event.detail];
    books_.storages.remove(event.bytes);
    books_.ended_bytes[event.detail] += event.bytes;
    trace::record(event);
  }
  static void lose_events() {
    for (std::size_t i = 0; i < 4 * EventRing::kEvents; ++i) trace::record({.kind = kJunk});
  }

  void for_each_live(const std::function<void(const LiveTensor&)>& use) override {
    const std::lock_guard guard(mutex_);
    for (const auto& [id, tensor] : live) use(tensor);
  }
  Books books(std::uint8_t) override {
    const std::lock_guard guard(mutex_);
    return books_;
  }
  std::uint64_t orphans() override { return 0; }

  std::uint8_t device = 0;
  std::map<std::uint64_t, LiveTensor> live;
  Books books_;

 private:
  std::mutex mutex_;
};

class RecorderTest : public testing::Test {
 protected:
  RecordingOptions options(Mode mode = Mode::kFull, std::uint64_t most = 0) const {
    return {.path = path_, .name = "test", .mode = mode, .most_bytes = most, .sample_bytes = 0};
  }
  void start(Mode mode = Mode::kFull, std::uint64_t most = 0) {
    Recorder::instance().start(options(mode, most), books_);
  }
  void SetUp() override {
    device_ = &Device::open({.kind = DeviceKind::kForeign, .name = "observe test"});
    books_.device = static_cast<std::uint8_t>(device_->index());
  }
  void TearDown() override {
    try {
      Recorder::instance().stop();
    } catch (const Error&) {
    }
    EXPECT_FALSE(trace::on());
    Device::close(*device_);
  }
  const Books& books_of(const Replay& replay) const { return replay.books().at(books_.device); }
  ReadResult replay(Replay& into) const { return read_recording(path_, into); }
  std::vector<std::uint8_t> bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  test::TemporaryFolder folder_;
  const std::string path_ = (folder_.path() / "run.ebbrec").string();
  Device* device_ = nullptr;
  FakeBooks books_;
};

TEST_F(RecorderTest, WhatLivesAtTheEndIsWhatWasNotEnded) {
  const SiteId site = SiteTable::instance().intern("observe test line");
  books_.make(1);  // before the recording
  start();
  for (int i = 2; i < 100; ++i) books_.make(i, 4096, site);
  for (int i = 1; i < 60; ++i) books_.end(i);
  Recorder::instance().mark("an epoch");
  Recorder::instance().stop();
  Replay replay;
  const ReadResult result = this->replay(replay);
  EXPECT_TRUE(result.ended);
  EXPECT_EQ(replay.live_tensors(), 40u);
  EXPECT_EQ(replay.disagreements(), 0u);
  EXPECT_EQ(replay.lost(), 0u);
  const SiteBooks& made = replay.sites().at(site);
  EXPECT_EQ(made.created, 98);
  EXPECT_EQ(made.live, 40);
  EXPECT_EQ(made.live_bytes, 40 * 4096);
  EXPECT_EQ(made.shapes.begin()->first, "float32[5,50]");
  EXPECT_EQ(made.shapes.begin()->second, 40u);
  EXPECT_EQ(replay.site_text(site), "observe test line");
  ASSERT_EQ(replay.marks().size(), 1u);
  EXPECT_EQ(replay.marks()[0].text, "an epoch");
  EXPECT_EQ(replay.fact("name"), "test");
  EXPECT_GE(replay.counters().size(), 1u);
  EXPECT_GT(replay.counters().back().resident, 0u);
  const Books& books = books_of(replay);
  EXPECT_EQ(books.created, 99u);
  EXPECT_EQ(books.ended[0], 59u);
  EXPECT_TRUE(books.balanced());
}

// The ends of all tensors are lost: none of them is said to leak.
TEST_F(RecorderTest, ALossInventsNoLeak) {
  start();
  for (int i = 0; i < 1000; ++i) books_.make(i);
  usleep(30000);  // the births are written
  for (int i = 0; i < 990; ++i) books_.end(i);
  FakeBooks::lose_events();
  usleep(30000);
  for (int i = 2000; i < 2010; ++i) books_.make(i);
  usleep(200000);
  // As if it were killed here.
  const std::vector<std::uint8_t> killed = bytes();
  Replay early;
  EXPECT_FALSE(read_segment(killed, early).ended);
  EXPECT_GT(early.lost(), 0u);
  EXPECT_FALSE(early.uncertain());
  EXPECT_EQ(early.live_tensors(), 20u);
  Recorder::instance().stop();
  Replay whole;
  EXPECT_TRUE(replay(whole).ended);
  EXPECT_EQ(whole.live_tensors(), 20u);
  EXPECT_EQ(books_of(whole).created, books_.books_.created);
  EXPECT_EQ(books_of(whole).live, 20u);
}

TEST_F(RecorderTest, ACutAnywhereLeavesWhatCameBefore) {
  start();
  for (int i = 0; i < 3000; ++i) books_.make(i);
  usleep(120000);
  for (int i = 0; i < 3000; ++i) books_.end(i);
  Recorder::instance().stop();
  const std::vector<std::uint8_t> all = bytes();
  std::uint64_t before = 0;
  for (std::size_t cut = kFileHeader; cut < all.size(); cut += 97) {
    Replay replay;
    const ReadResult result = read_segment(std::span(all).first(cut), replay);
    EXPECT_FALSE(result.ended);
    EXPECT_LE(result.bytes, cut);
    EXPECT_GE(result.bytes, before);
    before = result.bytes;
  }
}

TEST_F(RecorderTest, ADamagedByteEndsTheReadingThere) {
  start();
  for (int i = 0; i < 100; ++i) books_.make(i);
  Recorder::instance().stop();
  std::vector<std::uint8_t> all = bytes();
  all[all.size() / 2] ^= 0x40;
  Replay replay;
  EXPECT_FALSE(read_segment(all, replay).ended);
}

TEST_F(RecorderTest, StaysWithinItsLimitAndKeepsTheBooks) {
  constexpr std::uint64_t kLimit = 1u << 20;
  start(Mode::kFull, kLimit);
  for (int round = 0; round < 400; ++round) {
    for (int i = 0; i < 1500; ++i)
      books_.make(i, 64 + std::uint64_t(i) * 64 + std::uint64_t(round));
    for (int i = 0; i < 1500; ++i) books_.end(i);
    usleep(1500);
  }
  books_.make(5000, 123);
  Recorder::instance().stop();
  std::uint64_t sum = 0;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    sum += entry.file_size();
    ++files;
  }
  EXPECT_LE(sum, kLimit);
  EXPECT_GT(files, 1u);
  Replay replay;
  const ReadResult result = this->replay(replay);
  EXPECT_EQ(result.segments, files);
  EXPECT_TRUE(result.ended);
  EXPECT_EQ(replay.live_tensors(), 1u);
  if (replay.lost() == 0) {
    EXPECT_EQ(replay.disagreements(), 0u);
  }
  EXPECT_EQ(books_of(replay).created, books_.books_.created);
}

TEST_F(RecorderTest, ModesChangeWhileItRuns) {
  start(Mode::kCounters);
  EXPECT_FALSE(trace::on());
  books_.make(1);
  books_.make(2);
  Recorder::instance().set_mode(Mode::kFull);
  EXPECT_TRUE(trace::on());
  EXPECT_TRUE(wants_site(1));
  books_.make(3);
  books_.end(1);
  Recorder::instance().set_mode(Mode::kCounters);
  EXPECT_FALSE(wants_site(1 << 30));
  books_.make(4);
  books_.end(2);
  Recorder::instance().set_mode(Mode::kSampled);
  EXPECT_TRUE(wants_site(1 << 30));
  books_.end(3);
  Recorder::instance().stop();
  Replay replay;
  this->replay(replay);
  EXPECT_EQ(replay.live_tensors(), 1u);
  EXPECT_EQ(books_of(replay).created, 4u);
  EXPECT_EQ(books_of(replay).live, 1u);
}

TEST_F(RecorderTest, OneAtATimeAndOnlyWhereItCanWrite) {
  start();
  EXPECT_EQ(Recorder::instance().state().mode, Mode::kFull);
  expect_error(ErrorKind::kWrongState, [&] { start(); });
  Recorder::instance().stop();
  EXPECT_FALSE(Recorder::instance().stop());
  expect_error(ErrorKind::kWrongState, [] { Recorder::instance().mark("x"); });
  expect_error(ErrorKind::kWrongState, [] { Recorder::instance().set_mode(Mode::kFull); });
  RecordingOptions nowhere = options();
  nowhere.path = "/no/such/folder/x.ebbrec";
  expect_error(ErrorKind::kDevice, [&] { Recorder::instance().start(nowhere, books_); });
  RecordingOptions tiny = options(Mode::kFull, 1000);
  expect_error(ErrorKind::kInvalidArgument, [&] { Recorder::instance().start(tiny, books_); });
  EXPECT_FALSE(trace::on());
}

TEST_F(RecorderTest, FollowsNoLinkAndIsItsOwnersOnly) {
  const std::string victim = (folder_.path() / "victim").string();
  std::ofstream(victim) << "mine";
  std::filesystem::create_symlink(victim, path_);
  expect_error(ErrorKind::kDevice, [&] { start(); });
  std::filesystem::remove(path_);
  start();
  Recorder::instance().stop();
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  EXPECT_EQ(std::filesystem::file_size(victim), 4u);
}

// /dev/full takes the opening and refuses what is written: the program goes on, and is told.
TEST_F(RecorderTest, AFullDiskEndsTheRecordingOnly) {
  RecordingOptions full = options();
  full.path = "/dev/full";
  expect_error(ErrorKind::kDevice, [&] { Recorder::instance().start(full, books_); });
  EXPECT_FALSE(trace::on());
}

TEST_F(RecorderTest, TheChildOfAForkHasNone) {
  start();
  books_.make(1);
  const pid_t child = fork();
  if (child == 0) {
    const bool none = Recorder::instance().state().mode == Mode::kOff && !trace::on();
    books_.make(7);
    _exit(none && !Recorder::instance().stop() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  books_.make(2);
  Recorder::instance().stop();
  Replay replay;
  EXPECT_TRUE(this->replay(replay).ended);
  EXPECT_EQ(replay.live_tensors(), 2u);
}

TEST_F(RecorderTest, VersionsAreHeldTo) {
  start();
  books_.make(1);
  Recorder::instance().stop();
  std::vector<std::uint8_t> all = bytes();
  // An older minor is the same without holders, of which there are none here.
  std::vector<std::uint8_t> older = all;
  older[10] = 0;
  Replay of_older;
  EXPECT_TRUE(read_segment(older, of_older).ended);
  EXPECT_EQ(of_older.live_tensors(), 1u);
  // A newer minor has blocks of a kind that is not known yet.
  std::vector<std::uint8_t> minor = all;
  minor[10] = 9;
  WireWriter payload;
  payload.text("from the future");
  {
    SegmentFile other((folder_.path() / "x").string(), 0);
    other.write(BlockType(77), payload);
  }
  std::ifstream in((folder_.path() / "x").string(), std::ios::binary);
  const std::vector<std::uint8_t> block{std::istreambuf_iterator<char>(in), {}};
  minor.insert(minor.begin() + kFileHeader, block.begin() + kFileHeader, block.end());
  Replay replay;
  const ReadResult result = read_segment(minor, replay);
  EXPECT_TRUE(result.ended);
  EXPECT_EQ(result.skipped, 1u);
  EXPECT_EQ(replay.live_tensors(), 1u);
  // A newer major is refused with a sentence.
  all[8] = 2;
  try {
    read_segment(all, replay);
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("a newer Ebb is needed"), std::string::npos);
  }
  all[0] = 'x';
  expect_error(ErrorKind::kInvalidArgument, [&] { read_segment(all, replay); });
}

}  // namespace
}  // namespace ebb::observe
