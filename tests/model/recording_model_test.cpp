// A recording of random calls, played back: its books at the end are the ledger's, on every device,
// with and without losses.
#include <filesystem>

#include "capi/books_source.hpp"
#include "memory/event_ring.hpp"
#include "model/books_world.hpp"
#include "observe/recorder.hpp"
#include "observe/recording_files.hpp"
#include "observe/replay.hpp"
#include "support/audited.hpp"
#include "support/seed.hpp"
#include "support/temporary_folder.hpp"

namespace ebb::model {
namespace {

using observe::Mode;
using observe::Recorder;

constexpr std::uint64_t kSteps = 30'000;
constexpr std::uint64_t kStepsToALoss = 5'000;

void expect_same(const Books& played, const Books& ledger, std::string_view device) {
  EXPECT_EQ(played.created, ledger.created) << device;
  EXPECT_EQ(played.live, ledger.live) << device;
  EXPECT_EQ(played.ended, ledger.ended) << device;
  EXPECT_EQ(played.ended_bytes, ledger.ended_bytes) << device;
  EXPECT_EQ(played.created_storages.count, ledger.created_storages.count) << device;
  EXPECT_EQ(played.created_storages.bytes, ledger.created_storages.bytes) << device;
  EXPECT_EQ(played.storages.count, ledger.storages.count) << device;
  EXPECT_EQ(played.storages.bytes, ledger.storages.bytes) << device;
  EXPECT_EQ(played.held.count, ledger.held.count) << device;
  EXPECT_EQ(played.held.bytes, ledger.held.bytes) << device;
}

// More than a ring holds, at once.
void lose_events() {
  for (std::size_t i = 0; i < 3 * EventRing::kEvents; ++i) trace::record({.kind = EventKind(200)});
}

struct Run {
  bool losses;
  std::uint64_t most_bytes;
};

class RecordingModel : public testing::TestWithParam<Run> {};

TEST_P(RecordingModel, PlaysBackToTheLedgersBooks) {
  const std::uint64_t seed = test::seed_for("recording", 300);
  const test::TemporaryFolder folder;
  const std::string path = (folder / "model.ebbrec").string();
  BooksWorld world(seed);
  for (int i = 0; i < 2000; ++i) world.step();
  Recorder::instance().start({.path = path,
                              .name = "model",
                              .mode = Mode::kFull,
                              .most_bytes = GetParam().most_bytes,
                              .sample_bytes = 0},
                             capi::BooksSource::instance());
  for (std::uint64_t i = 1; i <= kSteps; ++i) {
    world.step();
    if (GetParam().losses && i % kStepsToALoss == 0) lose_events();
  }
  const observe::RecorderState state = Recorder::instance().state();
  Recorder::instance().stop();

  observe::Replay played;
  const observe::ReadResult result = observe::read_recording(path, played);
  EXPECT_TRUE(result.ended);
  EXPECT_EQ(played.lost() > 0, GetParam().losses);
  EXPECT_EQ(played.disagreements(), 0u) << "seed " << seed;
  if (!GetParam().losses && GetParam().most_bytes == 0) {
    test::note("recording: {} events, {:.2f} bytes each", state.events,
               static_cast<double>(state.bytes) / static_cast<double>(state.events));
  }
  std::uint64_t live = 0;
  for (DeviceIndex i = 1; i < kMaxDevices; ++i) {
    const Device* device = Device::at(i);
    if (device == nullptr) continue;
    const Books ledger = Context::total_memory(device).books;
    const auto found = played.books().find(static_cast<std::uint8_t>(i));
    ASSERT_NE(found, played.books().end()) << device->name();
    expect_same(found->second, ledger, device->name());
    live += ledger.live;
  }
  EXPECT_EQ(played.live_tensors(), live);
}

INSTANTIATE_TEST_SUITE_P(Runs, RecordingModel,
                         testing::Values(Run{false, 0}, Run{true, 0}, Run{false, 512u << 10},
                                         Run{true, 1u << 20}));

}  // namespace
}  // namespace ebb::model
