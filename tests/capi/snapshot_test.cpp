// docs/snapshot.md, read back with another JSON library and held against the books.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "capi/capi_fixture.hpp"

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class CapiSnapshot : public CapiTest {
 protected:
  void SetUp() override {
    CapiTest::SetUp();
    folder = fs::path(testing::TempDir()) / ("ebb-snapshot-" + std::to_string(::getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override {
    fs::remove_all(folder);
    CapiTest::TearDown();
  }
  json write() {
    const fs::path path = folder / "snapshot.json";
    EXPECT_OK(ebb_snapshot_write(path.c_str()));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1)
        << "no draft stays";
    return json::parse(std::ifstream(path));
  }
  static const json& named(const json& array, const char* name) {
    for (const json& each : array) {
      if (each["name"] == name) return each;
    }
    ADD_FAILURE() << "no " << name;
    return array;
  }
  fs::path folder;
};

TEST_F(CapiSnapshot, HoldsWhatTheBooksKnow) {
  EXPECT_OK(ebb_trace_set(EBB_TRACE_SITES));
  ebb_site site = 0;
  ASSERT_OK(ebb_site_intern("here (a.js:1)\n\xff", &site));
  const ebb_region outer = open(0, "outer"), inner = open(outer, "inner");
  const ebb_handle base = create(4096, inner, site);
  const ebb_tensor_spec half = spec_of(2048);
  ebb_handle view = 0;
  ASSERT_OK(ebb_tensor_view(context, base, 2048, &half, &view));
  const ebb_handle adopted = adopt(77, 1000, 9);
  adopt(77, 1000, 10);
  ebb_orphan(adopted);
  ebb_hold hold = 0;
  ASSERT_OK(ebb_hold_acquire(context, base, &hold));
  EXPECT_OK(ebb_tensor_dispose(context, create(64)));

  const json snapshot = write();
  EXPECT_EQ(snapshot["format"], "ebb-snapshot");
  EXPECT_EQ(snapshot["version"], 1);
  EXPECT_EQ(snapshot["ebb"], ebb_version());
  EXPECT_EQ(named(snapshot["devices"], "sim")["in_use"], 4096);
  EXPECT_EQ(named(snapshot["devices"], "runtime")["kind"], "foreign");
  EXPECT_EQ(snapshot["sites"][site - 1]["text"], "here (a.js:1)\n\xEF\xBF\xBD");

  const json& mine = named(snapshot["contexts"], "test");
  EXPECT_EQ(mine["id"], context);
  EXPECT_EQ(mine["open"], true);
  EXPECT_EQ(mine["books"]["tensors"]["created"], 5);
  EXPECT_EQ(mine["books"]["tensors"]["live"], mine["tensors"].size());
  EXPECT_EQ(mine["books"]["tensors"]["disposed"], 1);
  EXPECT_EQ(mine["books"]["regions"], mine["regions"].size() - 1) << "the root is listed too";
  ASSERT_EQ(mine["holds"].size(), 1u);
  EXPECT_EQ(mine["holds"][0]["hold"], hold);

  std::set<uint64_t> storages;
  uint64_t bytes = 0, orphans = 0;
  for (const json& tensor : mine["tensors"]) {
    if (storages.insert(tensor["storage"].get<uint64_t>()).second)
      bytes += tensor["bytes"].get<uint64_t>();
    orphans += tensor["orphaned"].get<bool>() ? 1 : 0;
    if (tensor["handle"] == base) {
      EXPECT_EQ(tensor["region"], inner);
      EXPECT_EQ(tensor["site"], site);
      EXPECT_EQ(tensor["dtype"], "uint8");
      EXPECT_EQ(tensor["shape"], json::array({4096}));
    }
    if (tensor["handle"] == view) {
      EXPECT_EQ(tensor["offset"], 2048);
    }
    if (tensor["handle"] == adopted) {
      EXPECT_EQ(tensor["key"], 77);
      EXPECT_EQ(tensor["tag"], 9);
      EXPECT_EQ(tensor["orphaned"], true);
    }
  }
  EXPECT_EQ(bytes, mine["books"]["bytes"]["live"]);
  EXPECT_EQ(orphans, mine["books"]["tensors"]["orphans"]);

  for (const json& region : mine["regions"]) {
    if (region["id"] != inner) continue;
    EXPECT_EQ(region["parent"], outer);
    EXPECT_EQ(region["label"], "inner");
    EXPECT_EQ(region["tensors"], 1);
    EXPECT_EQ(region["depth"], 2);
  }
  uint64_t born = 0;
  for (const json& event : snapshot["events"]) born += event["kind"] == "born" ? 1 : 0;
  EXPECT_GE(born, 5u);
  EXPECT_OK(ebb_hold_release(context, hold));
}

TEST_F(CapiSnapshot, ManyTensors) {
  for (int i = 0; i < 50000; ++i) adopt(0, 100);
  const json snapshot = write();
  EXPECT_EQ(named(snapshot["contexts"], "test")["tensors"].size(), 50000u);
}

TEST_F(CapiSnapshot, AContextThatEndedButIsHeld) {
  const ebb_handle handle = create(64);
  ebb_hold hold = 0;
  ASSERT_OK(ebb_hold_acquire(context, handle, &hold));
  EXPECT_OK(ebb_context_destroy(context));
  const json snapshot = write();
  const json& mine = named(snapshot["contexts"], "test");
  EXPECT_EQ(mine["open"], false);
  EXPECT_EQ(mine["books"]["bytes"]["held"], 64);
  EXPECT_EQ(mine["holds"].size(), 1u);
  EXPECT_OK(ebb_hold_release(context, hold));
  context = 0;
}

TEST_F(CapiSnapshot, ReplacesAnOlderOne) {
  std::ofstream(folder / "snapshot.json") << "old";
  EXPECT_EQ(write()["format"], "ebb-snapshot");
}

TEST_F(CapiSnapshot, FailuresNameThePathAndTheCause) {
  const fs::path missing = folder / "no" / "such" / "folder.json";
  EXPECT_STATUS(ebb_snapshot_write(missing.c_str()), EBB_DEVICE_ERROR);
  const std::string message = ebb_last_error();
  EXPECT_NE(message.find(missing.string()), std::string::npos) << message;
  EXPECT_NE(message.find("No such file"), std::string::npos) << message;
  EXPECT_EQ(ebb_snapshot_write(nullptr), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_snapshot_write(""), EBB_DEVICE_ERROR);
  EXPECT_EQ(ebb_snapshot_write("/dev/null/x"), EBB_DEVICE_ERROR);
}

TEST_F(CapiSnapshot, AFailedOneLeavesNothingBehind) {
  const fs::path target = folder / "a-folder";
  fs::create_directories(target / "not-empty");
  EXPECT_STATUS(ebb_snapshot_write(target.c_str()), EBB_DEVICE_ERROR);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

}  // namespace
