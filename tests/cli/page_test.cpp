// What the page is given: figures over time that agree with the books, and blocks where they were.
#include "cli/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/block_layout.hpp"
#include "cli/made_recording.hpp"
#include "support/temporary_folder.hpp"

namespace ebb::cli {
namespace {

using test::MadeRecording;

observe::StorageChange change(std::uint64_t name, std::uint64_t bytes, bool lives,
                              std::uint32_t site = 1) {
  return {.name = name,
          .bytes = bytes,
          .site = site,
          .device = 1,
          .lives = lives,
          .made = lives ? static_cast<double>(bytes) : 0};
}

TEST(HistoryTest, BucketsHalveAndKeepWhatWasThere) {
  History history;
  history.on_begin(1000);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    history.on_storage(1000 + i * 1'000'000, change(i, 10, true));
    history.on_collection(1000 + i * 1'000'000, 7);
  }
  history.finish(1000 + 10'000 * std::uint64_t{1'000'000});
  EXPECT_LE(history.buckets(), History::kBuckets);
  EXPECT_GT(history.buckets(), History::kBuckets / 2);
  const SiteHistory& site = history.sites().at(1);
  EXPECT_EQ(site.live_at.back().value, 100'000);
  double made = 0;
  for (const Sparse& each : site.made_in) made += each.value;
  EXPECT_EQ(made, 100'000);
  EXPECT_TRUE(std::ranges::is_sorted(site.live_at, {}, &Sparse::bucket));
  std::uint64_t count = 0, ns = 0;
  for (const Collections& each : history.collections()) {
    count += each.count;
    ns += each.ns;
  }
  EXPECT_EQ(count, 10'000u);
  EXPECT_EQ(ns, 70'000u);
}

TEST(HistoryTest, ASpikeBetweenTwoCountersIsSeen) {
  History history;
  history.on_begin(0);
  history.on_storage(10, change(1, 500, true));
  history.on_storage(20, change(1, 500, false));
  history.finish(30);
  EXPECT_EQ(history.most().front().value, 500);
  EXPECT_EQ(history.sites().at(1).live_at.back().value, 0);
}

TEST(HistoryTest, KeepsTheBlocksThatFillMostOfThePicture) {
  History history;
  history.on_begin(0);
  std::uint64_t time = 0;
  history.on_storage(time, change(1, 1 << 20, true, 7));  // stays
  for (std::uint64_t i = 0; i < 5 * History::kMostBlocks; ++i) {
    history.on_storage(time += 10, change(2, 100, true));
    history.on_storage(time += 10, change(2, 100, false));
  }
  history.finish(time);
  EXPECT_EQ(history.blocks().size(), History::kMostBlocks);
  EXPECT_EQ(history.all_blocks(), 5 * History::kMostBlocks + 1);
  EXPECT_EQ(history.blocks().front().site, 7u);
  EXPECT_TRUE(history.blocks().front().alive);
}

// Any two that live at once are apart.
void expect_apart(const BlockLayout& layout) {
  for (const PlacedBlock& a : layout.blocks) {
    EXPECT_LE(a.offset + a.block.bytes, layout.extent);
    for (const PlacedBlock& b : layout.blocks) {
      if (&a == &b || a.block.end <= b.block.begin || b.block.end <= a.block.begin) continue;
      EXPECT_TRUE(a.offset + a.block.bytes <= b.offset || b.offset + b.block.bytes <= a.offset);
    }
  }
}

TEST(BlockLayoutTest, WhatNobodyUsedIsLeftOut) {
  const std::vector<BlockLayout> layouts =
      laid_out({{.name = 0x7f00'0000'0000, .bytes = 100, .begin = 0, .end = 9, .device = 1},
                {.name = 0x7f00'0000'0064, .bytes = 50, .begin = 1, .end = 9, .device = 1},
                {.name = 0x1000, .bytes = 30, .begin = 2, .end = 9, .device = 1},
                {.name = 5, .bytes = 1, .begin = 3, .end = 4, .device = 2}});
  ASSERT_EQ(layouts.size(), 2u);
  EXPECT_TRUE(layouts[0].by_address);
  EXPECT_EQ(layouts[0].extent, 180u);
  EXPECT_EQ(layouts[0].regions, (std::vector<std::uint64_t>{0, 30}));
  EXPECT_EQ(layouts[0].blocks[0].offset, 30u);
  EXPECT_EQ(layouts[0].blocks[1].offset, 130u);
  EXPECT_EQ(layouts[0].blocks[2].offset, 0u);
  expect_apart(layouts[0]);
}

TEST(BlockLayoutTest, NamesThatAreNoAddressesArePutWhereThereIsRoom) {
  std::vector<Block> blocks;
  for (std::uint64_t i = 0; i < 300; ++i) {
    blocks.push_back({.name = i + 1,
                      .bytes = 1000 + i * 37 % 5000,
                      .begin = i * 10,
                      .end = i * 10 + 10 + i * 71 % 400,
                      .device = 1});
  }
  const std::vector<BlockLayout> layouts = laid_out(blocks);
  ASSERT_EQ(layouts.size(), 1u);
  EXPECT_FALSE(layouts[0].by_address);
  expect_apart(layouts[0]);
  const std::uint64_t all =
      std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const Block& block) { return sum + block.bytes; });
  EXPECT_LT(layouts[0].extent, all / 4);
}

TEST(BlockLayoutTest, SizesAndAddressesThatCannotBeAreSurvived) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  const std::vector<BlockLayout> layouts =
      laid_out({{.name = kMost, .bytes = kMost, .begin = 0, .end = kMost, .device = 1},
                {.name = 0, .bytes = kMost, .begin = 1, .end = 1, .device = 1},
                {.name = kMost - 1, .bytes = 0, .begin = 2, .end = 3, .device = 1}});
  ASSERT_EQ(layouts.size(), 1u);
  EXPECT_EQ(layouts[0].blocks.size(), 3u);
}

class PageTest : public testing::Test {
 protected:
  std::string path() const { return (folder_ / "a.ebbrec").string(); }
  test::TemporaryFolder folder_;
};

TEST_F(PageTest, FiguresAreThoseOfTheReport) {
  {
    MadeRecording recording(path());
    test::play_three_leaks(recording);
  }
  const Played played(path());
  const nlohmann::json data = nlohmann::json::parse(page_data({&played}));
  const nlohmann::json& shown = data.at("recordings").at(0);
  EXPECT_EQ(shown.at("sites").size(), played.analysis.places.size());
  EXPECT_EQ(shown.at("growing"), true);
  EXPECT_EQ(shown.at("marks").size(), 3u);
  double now = 0, made = 0;
  for (const nlohmann::json& site : shown.at("sites")) {
    now += site.at("now").get<double>();
    made += site.at("made").get<double>();
  }
  EXPECT_EQ(now, static_cast<double>(played.analysis.books.storages.bytes));
  EXPECT_EQ(made, static_cast<double>(played.analysis.books.created_storages.bytes));
  double last = 0;
  for (const auto& [id, site] : played.history.sites()) last += site.live;
  EXPECT_EQ(last, now);
  EXPECT_EQ(shown.at("sites").at(0).at("holder"), "global.cache (Map) -> .features (Array)");
  EXPECT_EQ(shown.at("blocks").at(0).at("byAddress"), true);
}

TEST_F(PageTest, NoTagComesFromANameAndNothingIsLoaded) {
  {
    MadeRecording recording(path());
    recording.mark("<!-- </script><img src=x onerror=alert(1)>");
    test::play_server(recording, test::kHostileFrame);
  }
  const Played played(path());
  const std::string html = page_html({&played});
  const std::size_t data = html.find("id=\"data\">") + 10;
  const std::size_t end = html.find("</script>", data);
  EXPECT_EQ(html.substr(data, end - data).find('<'), std::string::npos);
  EXPECT_TRUE(nlohmann::json::accept(html.substr(data, end - data)));
  EXPECT_EQ(html.find("http:"), std::string::npos);
  EXPECT_EQ(html.find("https:"), std::string::npos);
  EXPECT_EQ(html.find('@' + std::string("NONCE")), std::string::npos);
  for (const char c : html) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST_F(PageTest, ARecordingWithoutATensorHasAPage) {
  {
    MadeRecording recording(path());
    recording.pass_ms(5);
    recording.stop();
  }
  const Played played(path());
  const nlohmann::json data = nlohmann::json::parse(page_data({&played, &played}));
  EXPECT_EQ(data.at("recordings").size(), 2u);
  EXPECT_TRUE(data.at("recordings").at(0).at("sites").empty());
}

}  // namespace
}  // namespace ebb::cli
