// What the tool says of a server that leaks, and of one that does not.
#include "cli/report.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/check.hpp"
#include "cli/made_recording.hpp"
#include "cli/shown_text.hpp"
#include "ebb/base/error.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ebb::cli {
namespace {

using test::MadeRecording;

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

class ReportTest : public testing::Test {
 protected:
  std::string made(std::string_view leak, const std::string& name = "a.ebbrec") {
    const std::string path = (folder_ / name).string();
    MadeRecording recording(path);
    test::play_server(recording, leak);
    return path;
  }
  test::TemporaryFolder folder_;
};

TEST_F(ReportTest, NamesTheLineThatLeaks) {
  const Analysis analysis(made(test::kLeak));
  ASSERT_EQ(analysis.growing().size(), 1u);
  const Place& leak = *analysis.growing()[0];
  EXPECT_EQ(leak.frames[0].file, "/srv/app.js");
  EXPECT_EQ(leak.frames[0].line, 42u);
  EXPECT_NEAR(leak.growth.per_second, 100 * (40 << 10), 2e5);
  EXPECT_EQ(leak.live, 2000);
  const std::string text = report_text(analysis, 10);
  EXPECT_TRUE(has(text, "growing +3.91 MB/s: handle (/srv/app.js:42:7), 2,000 x float32[32,784]"))
      << text;
  EXPECT_TRUE(has(text, "1.95 GB given back")) << text;
}

TEST_F(ReportTest, CountersAloneTellGrowthAndThePeak) {
  const auto analysed = [&](std::string_view leak) {
    const std::string path = folder_ / "counters.ebbrec";
    MadeRecording recording(path, observe::Mode::kCounters);
    test::play_server(recording, leak);
    return Analysis(path);
  };
  const Analysis leak = analysed(test::kLeak), clean = analysed("");
  EXPECT_EQ(leak.replay.events(), 0u);
  EXPECT_TRUE(leak.total.growing);
  EXPECT_NEAR(leak.total.per_second, 100 * (40 << 10), 2e5);
  EXPECT_NEAR(leak.peak, (40 << 20) + 2000.0 * (40 << 10), 1e5);
  EXPECT_TRUE(has(verdict(leak), "no place stands out: record in mode full")) << verdict(leak);
  EXPECT_FALSE(check_budget(leak, R"({"peak": "64MB", "growing": true})").empty());
  EXPECT_EQ(verdict(clean), "flat at 40.0 MB (0 B given back)\n");
}

TEST_F(ReportTest, ThousandsOfPlacesThatGrowAreToldInAFewLines) {
  constexpr int kPlaces = 10'000;
  const auto played = [&](std::uint64_t bytes) {
    const std::string path = folder_ / "places.ebbrec";
    MadeRecording recording(path);
    for (int round = 0; round < 40; ++round) {
      for (int i = 0; i < kPlaces; ++i) recording.make(fmt::format("f (/a.js:{})", i + 1), bytes);
      recording.pass_ms(100);
    }
    recording.stop();
    return Analysis(path);
  };
  const Analysis much = played(16 << 10);
  EXPECT_EQ(much.growing().size(), std::size_t{kPlaces});
  const std::string text = verdict(much);
  EXPECT_LT(std::ranges::count(text, '\n'), 30);
  EXPECT_TRUE(has(text, "and 9,980 more places grow")) << text;
  const Analysis little = played(64);
  EXPECT_EQ(little.growing().size(), 0u);
  EXPECT_TRUE(has(verdict(little), "no place stands out: it grows at many, at each by little"));
  EXPECT_EQ(little.places.size(), std::size_t{kPlaces});
  for (const Place& place : little.places) EXPECT_EQ(place.live, 40);
}

TEST_F(ReportTest, WhatComesAfterTheProgramIsNotItsGrowth) {
  const auto analysed = [&](bool marked) {
    const std::string file = folder_ / (marked ? "marked.ebbrec" : "bare.ebbrec");
    MadeRecording recording(file);
    std::vector<std::uint64_t> kept;
    for (int turn = 0; turn < 300; ++turn) {
      kept.push_back(recording.make(test::kLeak, 40 << 10));
      recording.pass_ms(10);
    }
    if (marked) recording.mark(observe::kProgramEnds);
    for (int turn = 0; turn < 60; ++turn) recording.pass_ms(100);  // a heap snapshot, say
    for (int i = 0; i < 200; ++i) recording.end(kept[i], Reason::kShutdown);
    recording.stop();
    return Analysis(file);
  };
  const Analysis marked = analysed(true), bare = analysed(false);
  EXPECT_TRUE(marked.total.growing);
  EXPECT_NEAR(marked.total.per_second, 4096e3, 100e3);
  EXPECT_FALSE(bare.total.growing);
  EXPECT_EQ(marked.books.live, 100u);
  EXPECT_NE(report_json(marked, 1).find("\"program_ended\":true"), std::string::npos);
  EXPECT_NE(report_json(bare, 1).find("\"program_ended\":false"), std::string::npos);
}

// Three seconds of a heap snapshot, twice, in four of a program's own time.
TEST_F(ReportTest, TimeInWhichTheProgramIsHeldUpDoesNotCount) {
  const auto rate = [&](bool marked) {
    const std::string file = folder_ / (marked ? "marked.ebbrec" : "bare.ebbrec");
    MadeRecording recording(file);
    for (int turn = 0; turn < 400; ++turn) {
      recording.make(test::kLeak, 40 << 10);
      recording.pass_ms(10);
      if (turn != 150 && turn != 300) continue;
      if (marked) recording.mark(observe::kStandsStill);
      for (int i = 0; i < 30; ++i) recording.pass_ms(100);
      if (marked) recording.mark(observe::kGoesOn);
    }
    recording.stop();
    const Analysis analysis(file);
    EXPECT_EQ(analysis.total.growing, !analysis.growing().empty());
    return analysis.total.growing ? analysis.total.per_second : 0;
  };
  EXPECT_NEAR(rate(true), 4096e3, 100e3);
  EXPECT_LT(rate(false), 2500e3);
}

TEST_F(ReportTest, SaysWhatHoldsThemWhereItIsKnown) {
  const std::string path = (folder_ / "three.ebbrec").string();
  {
    MadeRecording recording(path);
    test::play_three_leaks(recording);
  }
  const Analysis three(path);
  const std::string all = why_text(three, "");
  EXPECT_TRUE(has(all, "held by: global.cache (Map) -> .features (Array)")) << all;
  EXPECT_TRUE(has(all, "remember (/srv/session.js:9:5): ")) << all;
  EXPECT_TRUE(has(all, "nobody has found out")) << all;
  EXPECT_FALSE(has(all, "relu")) << all;
  EXPECT_TRUE(has(why_text(three, "model.js:31"), "nobody looked: it does not grow"));
  EXPECT_TRUE(has(why_text(three, "features.js:18"), "held by: global.cache"));
  EXPECT_ERROR(why_text(three, "no/such/place.js"), kInvalidArgument, "no place has");
  EXPECT_EQ(why_text(Analysis(made("")), ""), "nothing grows, and so nobody looked\n");
}

TEST_F(ReportTest, SaysFlatOfAServerThatGivesBack) {
  const Analysis analysis(made(""));
  EXPECT_TRUE(analysis.growing().empty());
  EXPECT_FALSE(analysis.total.growing);
  const std::string text = report_text(analysis, 10);
  EXPECT_TRUE(has(text, "flat at 40.0 MB (1.95 GB given back)")) << text;
  EXPECT_FALSE(has(text, "growing")) << text;
}

TEST_F(ReportTest, ATornRecordingIsReadAndSaidToBeTorn) {
  const std::string path = made(test::kLeak);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const Analysis analysis(path);
  EXPECT_EQ(analysis.growing().size(), 1u);
  EXPECT_TRUE(has(report_text(analysis, 10), "It was not ended"));
}

TEST_F(ReportTest, SampledFiguresAreEstimatesOfTheSameLeak) {
  const std::string path = (folder_ / "s.ebbrec").string();
  {
    MadeRecording recording(path, observe::Mode::kSampled);
    for (int turn = 0; turn < 4000; ++turn) {
      // About one in 13 of 40 KB is taken.
      recording.make(turn % 13 == 0 ? test::kLeak : "", 40 << 10);
      recording.pass_ms(5);
    }
    recording.stop();
  }
  const Analysis analysis(path);
  ASSERT_EQ(analysis.growing().size(), 1u);
  EXPECT_NEAR(analysis.growing()[0]->live, 4000, 400);
  EXPECT_NEAR(analysis.growing()[0]->growth.per_second, 200 * (40 << 10), 1e6);
}

TEST_F(ReportTest, ADifferenceIsByPlaceAndNotByNumber) {
  const Analysis before(made("", "before.ebbrec")), after(made(test::kLeak, "after.ebbrec"));
  const std::string text = diff_text(before, after, 5);
  EXPECT_TRUE(has(text, "+78.1 MB        0 B    78.1 MB  handle (/srv/app.js:42:7)")) << text;
  EXPECT_FALSE(has(text, "predict")) << text;
  EXPECT_TRUE(has(diff_text(before, before, 5), "no place holds more or less"));
}

TEST_F(ReportTest, HostileNamesAreShownAndNotObeyed) {
  const Analysis analysis(made(test::kHostileFrame));
  for (const std::string& text : {report_text(analysis, 10), verdict(analysis)}) {
    EXPECT_FALSE(has(text, "\x1b")) << text;
    EXPECT_FALSE(has(text, "\x07"));
    EXPECT_FALSE(has(text, "\u202E"));
    EXPECT_TRUE(has(text, "\\x1b[31m")) << text;
  }
  const auto findings = check_budget(analysis, "{}");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_FALSE(has(as_markdown(analysis, findings), "<script>"));
  EXPECT_FALSE(has(as_markdown(analysis, findings), "|`"));
  EXPECT_EQ(as_annotations({{"a%b\n::error::c", {.file = "x:1,y"}}}),
            "::error file=x%3A1%2Cy,line=0::a%25b\\n::error::c\n");
}

TEST(ShownText, KeepsWhatIsTextAndWritesOutTheRest) {
  EXPECT_EQ(shown("größe 模型 \U0001F600"), "größe 模型 \U0001F600");
  EXPECT_EQ(shown("a\tb\r\n\x1b[2J\x7f"), "a\\tb\\r\\n\\x1b[2J\\x7f");
  EXPECT_EQ(shown("\xC2\x9B"
                  "31m"),
            "\\x9b31m");  // C1 control: CSI in one character
  EXPECT_EQ(shown("\xE2\x80\xAEtxt"), "\\u202etxt");
  EXPECT_EQ(shown("\xC0\xAF|\xED\xA0\x80|\xF5|\xE2\x82"),
            "\uFFFD\uFFFD|\uFFFD\uFFFD\uFFFD|\uFFFD|\uFFFD\uFFFD");
  EXPECT_EQ(shown(""), "");
}

TEST(Frames, AreReadAsHostsWriteThem) {
  const Frame node = parse_frame("handle (/srv/app.js:42:7)");
  EXPECT_EQ(node.function, "handle");
  EXPECT_EQ(node.file, "/srv/app.js");
  EXPECT_EQ(node.line, 42u);
  EXPECT_EQ(node.column, 7u);
  const Frame bare = parse_frame("file:///a b/app.js:42:7");
  EXPECT_EQ(bare.function, "");
  EXPECT_EQ(bare.file, "file:///a b/app.js");
  const Frame java = parse_frame("com.acme.Main.run(Main.java:12)");
  EXPECT_EQ(java.function, "com.acme.Main.run");
  EXPECT_EQ(java.file, "Main.java");
  EXPECT_EQ(java.line, 12u);
  EXPECT_EQ(java.column, 0u);
  const Frame native = parse_frame("Main.run(Native Method)");
  EXPECT_EQ(native.function, "Main.run");
  EXPECT_EQ(native.file, "");
  for (const char* odd : {"", "(", ")", "()", ":", "a:", ":1", "x (:99999999999:1)", "(:1:2)"}) {
    EXPECT_EQ(parse_frame(odd).text, odd);
  }
  EXPECT_EQ(frames_of("").size(), 1u);
  EXPECT_EQ(frames_of("a\n\nb\n").size(), 2u);
}

TEST_F(ReportTest, BudgetsAndBaselines) {
  const Analysis leaking(made(test::kLeak, "leak.ebbrec")), clean(made("", "clean.ebbrec"));
  EXPECT_TRUE(check_budget(clean, R"({"peak": "64MB", "leaked": 50000000})").empty());
  EXPECT_EQ(check_budget(clean, R"({"peak": "32MB"})").size(), 1u);
  EXPECT_EQ(check_budget(leaking, R"({"peak": "1GB"})").size(), 1u) << "it grows";
  EXPECT_TRUE(check_budget(leaking, R"({"peak": "1GB", "growing": true})").empty());
  EXPECT_TRUE(check_baseline(clean, baseline_of(clean)).empty());
  EXPECT_TRUE(check_baseline(leaking, baseline_of(leaking)).empty()) << "no worse than it was";
  const auto worse = check_baseline(leaking, baseline_of(clean));
  ASSERT_EQ(worse.size(), 3u);
  EXPECT_EQ(worse[2].where.line, 42u);
  EXPECT_ERROR(check_budget(clean, "[]"), kInvalidArgument, "JSON object");
  EXPECT_ERROR(check_budget(clean, "{"), kInvalidArgument, "JSON object");
  EXPECT_ERROR(check_budget(clean, R"({"peek": 1})"), kInvalidArgument, "peek");
  EXPECT_ERROR(check_budget(clean, R"({"peak": -1})"), kInvalidArgument, "bytes");
  EXPECT_ERROR(check_budget(clean, R"({"peak": "lots"})"), kInvalidArgument, "lots");
  EXPECT_ERROR(check_baseline(clean, "{}"), kInvalidArgument, "none");
  EXPECT_ERROR(check_baseline(clean, R"({"format":7})"), kInvalidArgument, "none");
  const std::string begin = R"({"format":"ebb-baseline")";
  EXPECT_ERROR(check_baseline(clean, begin + "}"), kUnsupported, "version 1");
  EXPECT_ERROR(check_baseline(clean, begin + R"(,"version":2})"), kUnsupported, "version 1");
  for (const char* growing : {"null", "true", "\"x\"", "[1]", "{}"}) {
    const std::string text = begin + R"(,"version":1,"growing":)" + growing + "}";
    EXPECT_ERROR(check_baseline(clean, text), kInvalidArgument, "list of places");
  }
  EXPECT_ERROR(check_budget(clean, R"({"growing":"yes"})"), kInvalidArgument, "true or false");
}

}  // namespace
}  // namespace ebb::cli
