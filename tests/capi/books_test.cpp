#include <nlohmann/json.hpp>

#include "capi/capi_fixture.hpp"

namespace {

using nlohmann::json;

class CapiBooks : public CapiTest {
 protected:
  std::string report(bool as_json, uint32_t top = 0, bool all = false) {
    const ebb_report_options options = {sizeof(options), top, as_json ? 1u : 0u, 0};
    char* text = nullptr;
    EXPECT_OK(ebb_report(all ? 0 : context, &options, &text));
    const std::string copy = text == nullptr ? "" : text;
    ebb_text_free(text);
    return copy;
  }
  static ebb_site intern(const char* text) {
    ebb_site site = 0;
    EXPECT_OK(ebb_site_intern(text, &site));
    return site;
  }
};

TEST_F(CapiBooks, TheLawInNumbers) {
  ebb_reclaim_set(1);
  const ebb_region region = open();
  create(64, region);
  EXPECT_OK(ebb_tensor_dispose(context, create(128)));
  EXPECT_OK(ebb_region_close(context, region));
  ebb_orphan(create(256));
  safe_point();
  create(512);
  const ebb_memory memory = read();
  EXPECT_EQ(memory.created, 4u);
  EXPECT_EQ(memory.live, 1u);
  EXPECT_EQ(memory.disposed, 1u);
  EXPECT_EQ(memory.region_ended, 1u);
  EXPECT_EQ(memory.reclaimed, 1u);
  EXPECT_EQ(memory.created_bytes, 64u + 128u + 256u + 512u);
  EXPECT_EQ(memory.live_bytes, 512u);
  EXPECT_EQ(memory.disposed_bytes, 128u);
  EXPECT_EQ(memory.region_ended_bytes, 64u);
  EXPECT_EQ(memory.reclaimed_bytes, 256u);
  EXPECT_EQ(memory.storages, 1u);
  EXPECT_EQ(memory.regions, 0u);
  EXPECT_EQ(read(foreign).created, 0u);
  EXPECT_EQ(read(own).created, 4u);
}

TEST_F(CapiBooks, AllContextsIncludeEndedOnes) {
  auto before = sized<ebb_memory>(), after = sized<ebb_memory>();
  EXPECT_OK(ebb_memory_read(0, 0, &before));
  create(64);
  EXPECT_OK(ebb_context_destroy(context));
  EXPECT_OK(ebb_memory_read(0, 0, &after));
  EXPECT_EQ(after.created, before.created + 1);
  EXPECT_EQ(after.shutdown, before.shutdown + 1);
  EXPECT_STATUS(ebb_memory_read(context, 0, &after), EBB_STALE_HANDLE);
  EXPECT_STATUS(ebb_memory_read(0, 30, &after), EBB_STALE_HANDLE);
  EXPECT_EQ(ebb_memory_read(0, 0, nullptr), EBB_INVALID_ARGUMENT);
  context = 0;
}

TEST_F(CapiBooks, ATracedTensorRemembersWhereItWasMade) {
  EXPECT_OK(ebb_trace_set(EBB_TRACE_SITES));
  EXPECT_STATUS(ebb_trace_set(3), EBB_INVALID_ARGUMENT) << "no such level: it stays as it is";
  const ebb_handle handle = create(64, 0, intern("born (a.js:1)"));
  EXPECT_OK(ebb_tensor_dispose(context, handle));
  EXPECT_TRUE(stale(handle));
  const std::string message = ebb_last_error();
  EXPECT_NE(message.find("a.js:1"), std::string::npos) << message;
}

TEST_F(CapiBooks, Sites) {
  EXPECT_EQ(intern("same"), intern("same"));
  EXPECT_NE(intern("same"), intern("other"));
  EXPECT_EQ(intern(""), 0u);
  ebb_site site = 0;
  EXPECT_EQ(ebb_site_intern(nullptr, &site), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_site_intern("x", nullptr), EBB_INVALID_ARGUMENT);
}

TEST_F(CapiBooks, ReportAsText) {
  const ebb_region region = open(0, "epoch");
  create(3 * kMegabyte, region, intern("big (big.js:1)\nmain (main.js:9)"));
  ebb_orphan(create(kMegabyte, 0, intern("small (small.js:1)")));
  const std::string text = report(false);
  for (const char* word : {"context \"test\"", "big (big.js:1)", "small.js:1", "epoch", "75.0%",
                           "25.0%", "sim", "runtime", "reclaim is off"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  }
  EXPECT_EQ(text.find("main.js:9"), std::string::npos) << "one frame a site";
}

TEST_F(CapiBooks, ReportAsJson) {
  EXPECT_OK(ebb_device_set_budget(own, 32 * kMegabyte, EBB_BUDGET_HARD));
  const ebb_region region = open(0, "epoch");
  create(3 * kMegabyte, region, intern("big (big.js:1)\nmain (main.js:9)"));
  ebb_orphan(create(kMegabyte, 0, intern("small (small.js:1)")));
  const json read_back = json::parse(report(true));
  EXPECT_EQ(read_back["format"], "ebb-report");
  EXPECT_EQ(read_back["version"], 1);
  EXPECT_EQ(read_back["context"], "test");
  EXPECT_EQ(read_back["books"]["tensors"]["live"], 2);
  EXPECT_EQ(read_back["books"]["tensors"]["orphans"], 1);
  EXPECT_EQ(read_back["books"]["bytes"]["live"], 4 * kMegabyte);
  EXPECT_EQ(read_back["books"]["regions"], 1);
  ASSERT_EQ(read_back["sites"].size(), 2u);
  EXPECT_EQ(read_back["sites"][0]["text"], "big (big.js:1)\nmain (main.js:9)");
  EXPECT_DOUBLE_EQ(read_back["sites"][0]["share"], 0.75);
  EXPECT_EQ(read_back["sites"][1]["orphans"], 1);
  EXPECT_EQ(read_back["regions"][0]["label"], "epoch");
  EXPECT_EQ(read_back["regions"][0]["bytes"], 3 * kMegabyte);
  const auto& devices = read_back["devices"];
  const auto sim = std::find_if(devices.begin(), devices.end(),
                                [](const json& device) { return device["name"] == "sim"; });
  ASSERT_NE(sim, devices.end());
  EXPECT_EQ((*sim)["budget"], 32 * kMegabyte);
  EXPECT_EQ((*sim)["in_use"], 4 * kMegabyte);
}

TEST_F(CapiBooks, ReportNamesAsManyAsAsked) {
  for (int i = 0; i < 20; ++i) create(64, 0, intern(("site " + std::to_string(i)).c_str()));
  EXPECT_EQ(json::parse(report(true))["sites"].size(), 10u);
  const json three = json::parse(report(true, 3));
  EXPECT_EQ(three["sites"].size(), 3u);
  EXPECT_EQ(three["site_count"], 20);
  EXPECT_NE(report(false, 3).find("and 17 more"), std::string::npos);
  EXPECT_EQ(json::parse(report(true, 3, true))["context"], nullptr);
}

TEST_F(CapiBooks, ReportTakesAnyBytes) {
  const std::string odd = "q\" b\\ n\n t\t \x01 \x7f \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x8C\x8A";
  create(64, open(0, "\xff\xfe label"), intern(odd.c_str()));
  create(64, 0, intern("\xC0\xAF \xED\xA0\x80 \xF5 \xE2\x82"));
  const json read_back = json::parse(report(true));
  std::vector<std::string> texts;
  for (const json& site : read_back["sites"]) texts.push_back(site["text"]);
  EXPECT_NE(std::find(texts.begin(), texts.end(), odd), texts.end());
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_NE(std::find(texts.begin(), texts.end(),
                      bad + bad + " " + bad + bad + bad + " " + bad + " " + bad + bad),
            texts.end());
  EXPECT_FALSE(report(false).empty());
}

TEST_F(CapiBooks, BadReports) {
  char* text = nullptr;
  EXPECT_EQ(ebb_report(context, nullptr, nullptr), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_report(12345, nullptr, &text), EBB_STALE_HANDLE);
  EXPECT_EQ(text, nullptr);
  EXPECT_OK(ebb_report(context, nullptr, &text));
  ebb_text_free(text);
}

}  // namespace
