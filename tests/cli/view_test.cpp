// Who gets an answer from `ebb view`, and what a picture of `ebb top` has.
#include "cli/view.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "cli/made_recording.hpp"
#include "cli/opened_recording.hpp"
#include "cli/recording_index.hpp"
#include "cli/top.hpp"
#include "ebb/base/error.hpp"
#include "observe/recording_files.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ebb::cli {
namespace {

HttpRequest asking(const std::string& path, std::map<std::string, std::string> headers = {}) {
  headers.emplace("host", "127.0.0.1:4000");
  return {.method = "GET", .path = path, .headers = std::move(headers)};
}

class ViewTest : public testing::Test {
 protected:
  View view_{4000, "secret", [this](const Span& span) {
               asked_ = span;
               return std::string("{}");
             }};
  int status(const std::string& path, std::map<std::string, std::string> headers = {}) {
    return view_.answer(asking(path, std::move(headers))).status;
  }
  static std::map<std::string, std::string> with(std::string name = "", std::string value = "") {
    std::map<std::string, std::string> headers{{"cookie", "a=b; ebb-4000=secret"}};
    if (!name.empty()) headers[name] = value;
    return headers;
  }
  Span asked_;
};

TEST_F(ViewTest, TheTokenIsExchangedForACookie) {
  HttpRequest first = asking("/");
  first.query["token"] = "secret";
  const HttpReply reply = view_.answer(first);
  EXPECT_EQ(reply.status, 303);
  EXPECT_EQ(reply.headers.at("Location"), "/");
  EXPECT_EQ(reply.headers.at("Set-Cookie"), "ebb-4000=secret; HttpOnly; SameSite=Strict; Path=/");
  EXPECT_EQ(status("/", with()), 200);
  EXPECT_EQ(status("/data.json", with()), 200);
}

TEST_F(ViewTest, WithoutTheTokenNothingIsSaid) {
  EXPECT_EQ(status("/"), 403);
  EXPECT_EQ(status("/data.json"), 403);
  EXPECT_EQ(status("/data.json", {{"cookie", "ebb-4000=secreT"}}), 403);
  EXPECT_EQ(status("/data.json", {{"cookie", "ebb-4000="}}), 403);
  EXPECT_EQ(status("/data.json", {{"cookie", "ebb-4001=secret"}}), 403);
  HttpRequest wrong = asking("/");
  wrong.query["token"] = "guess";
  EXPECT_EQ(view_.answer(wrong).status, 403);
  // The token opens the page and nothing else.
  HttpRequest elsewhere = asking("/data.json");
  elsewhere.query["token"] = "secret";
  EXPECT_EQ(view_.answer(elsewhere).status, 403);
}

TEST_F(ViewTest, AForeignHostOriginOrPageIsRefused) {
  for (const char* host :
       {"evil.example", "evil.example:4000", "127.0.0.1", "127.0.0.1:4001", ""}) {
    EXPECT_EQ(status("/data.json", with("host", host)), 403) << host;
  }
  for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1:4000",
                             "http://127.0.0.1:4001", "http://localhost:4000"}) {
    EXPECT_EQ(status("/data.json", with("origin", origin)), 403) << origin;
  }
  EXPECT_EQ(status("/data.json", with("origin", "http://127.0.0.1:4000")), 200);
  EXPECT_EQ(status("/data.json", with("host", "localhost:4000")), 200);
  EXPECT_EQ(status("/data.json", with("sec-fetch-site", "cross-site")), 403);
}

TEST_F(ViewTest, OnlyReadsAndOnlyWhatThereIs) {
  HttpRequest post = asking("/data.json", with());
  post.method = "POST";
  EXPECT_EQ(view_.answer(post).status, 405);
  EXPECT_EQ(status("/../etc/passwd", with()), 404);
  HttpRequest span = asking("/data.json", with());
  span.query = {{"from", "1.5"}, {"to", "3"}};
  EXPECT_EQ(view_.answer(span).status, 200);
  EXPECT_EQ(asked_.from, 1.5);
  EXPECT_EQ(asked_.to, 3);
  for (const char* nonsense : {"-1", "nan", "1e30", "x", "1x"}) {
    span.query["to"] = nonsense;
    EXPECT_TRUE(test::throws_error([&] { view_.answer(span); }, ErrorKind::kInvalidArgument, {}))
        << nonsense;
  }
}

TEST_F(ViewTest, TokensAreLongAndNew) {
  EXPECT_EQ(new_token().size(), 64u);
  EXPECT_NE(new_token(), new_token());
}

TEST(HttpTest, RequestsAreReadAndNonsenseIsNot) {
  const HttpRequest request =
      parse_request("GET /a?b=c&d HTTP/1.1\r\nHOST:  x\r\nCookie: k=v\r\n\r\n");
  EXPECT_EQ(request.path, "/a");
  EXPECT_EQ(request.query.at("b"), "c");
  EXPECT_EQ(request.query.at("d"), "");
  EXPECT_EQ(request.header("host"), "x");
  for (const char* text :
       {"", "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/2\r\n\r\n", "GET x HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nnothing\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n"}) {
    EXPECT_TRUE(test::throws_error([&] { parse_request(text); }, ErrorKind::kInvalidArgument, {}))
        << text;
  }
}

TEST(TopTest, APictureFitsTheScreenAndObeysNoName) {
  test::TemporaryFolder folder;
  const std::string path = (folder / "a.ebbrec").string();
  {
    test::MadeRecording recording(path);
    test::play_server(recording, test::kHostileFrame);
  }
  const Analysis analysis(path);
  const std::string wide = top_picture(analysis, {.columns = 200, .rows = 24}, false);
  EXPECT_NE(wide.find("GROWING +3.91 MB/s"), std::string::npos) << wide;
  EXPECT_NE(wide.find("\\x1b[31m"), std::string::npos) << wide;
  EXPECT_EQ(wide.find('\x1b'), std::string::npos);
  EXPECT_NE(wide.find("[##############................] 118 MB of 256 MB in use"),
            std::string::npos)
      << wide;
  for (const Screen screen : {Screen{40, 5}, Screen{10, 3}, Screen{1, 1}, Screen{0, 0}}) {
    const std::string small = top_picture(analysis, screen, true);
    EXPECT_LE(static_cast<std::size_t>(std::ranges::count(small, '\n')), screen.rows);
    std::size_t at = 0;
    while (at < small.size()) {
      const std::size_t end = small.find('\n', at);
      EXPECT_LE(end - at, screen.columns * 4);
      at = end + 1;
    }
  }
}

TEST(OpenedRecordingTest, AnOverviewComesFirstAndAllOfItInTheEnd) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "large.ebbrec";
  {
    test::MadeRecording recording(file);
    test::play_three_leaks(recording);
  }
  const Played all(file);
  OpenedRecording opened(file, 0);
  std::string data = opened.data();
  const bool was_overview = data.find("\"overview\":true") != data.npos;
  if (was_overview) {  // it may have been read by now
    EXPECT_NE(data.find("\"live\":true"), data.npos) << "the page is to ask again";
    EXPECT_NE(data.find("global.cache (Map)"), data.npos);
  }
  for (int i = 0; i < 6000 && data.find("\"overview\":true") != data.npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    data = opened.data();
  }
  EXPECT_EQ(data, page_data({&all}));
}

TEST(OpenedRecordingTest, WithoutEventsWhoLivesAtTheEndIsKnown) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "some.ebbrec";
  {
    test::MadeRecording recording(file);
    test::play_server(recording, test::kLeak);
  }
  class WithoutEvents final : public observe::Replay {
    bool wants_events() override { return false; }
  };
  WithoutEvents some;
  observe::Replay all;
  observe::read_recording(file, some);
  observe::read_recording(file, all);
  EXPECT_EQ(some.events(), 0u);
  EXPECT_EQ(some.live_tensors(), all.live_tensors());
  EXPECT_EQ(some.counters().size(), all.counters().size());
  for (const auto& [site, books] : all.sites()) {
    if (books.live_bytes == 0) continue;
    EXPECT_EQ(some.sites().at(site).live_bytes, books.live_bytes) << all.site_text(site);
  }
}

// What a page shows of a span is the same whether all before it was read, or the index told who lives.
TEST(OpenedRecordingTest, ASpanIsReadFromThePlaceBeforeIt) {
  const test::TemporaryFolder folder;
  for (const std::string what : {"three", "many"}) {
    const std::string file = folder / what;
    {
      test::MadeRecording recording(file);
      if (what == "three") {
        test::play_three_leaks(recording);
      } else {
        test::play_many(recording, 100'000);
      }
    }
    OpenedRecording opened(file, 0, 1u << 12);
    for (const Span span : {Span{0, 1}, Span{3.25, 3.5}, Span{10, 20}, Span{29.5, 0}, Span{12, 1e6},
                            Span{1e6, 0}, Span{0, 0.000001}}) {
      const Played part(file, span);
      EXPECT_EQ(opened.data(span), page_data({&part})) << what << ' ' << span.from;
    }
    EXPECT_GT(opened.index().places(), 5u);
  }
}

// A thousand live tensors and more at each place: every second goes, again and again.
TEST(RecordingIndexTest, ItStaysWithinItsBytes) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "many.ebbrec";
  {
    test::MadeRecording recording(file);
    test::play_many(recording, 300'000);
  }
  class Offering final : public observe::Replay {
   public:
    explicit Offering(RecordingIndex& index) : index_(index) { listen(&history_); }
    void on_place(const observe::ReadingPlace& place) override {
      index_.offer(place, *this, history_);
    }

   private:
    RecordingIndex& index_;
    History history_;
  };
  RecordingIndex roomy(1u << 10, 1u << 30), narrow(1u << 10, 2u << 20), none(1u << 10, 1);
  for (RecordingIndex* each : {&roomy, &narrow, &none}) {
    Offering offering(*each);
    observe::read_recording(file, offering);
  }
  EXPECT_GT(roomy.places(), 2 * narrow.places());
  EXPECT_GT(narrow.places(), 0u);
  EXPECT_EQ(none.places(), 0u);
  EXPECT_EQ(roomy.before(0), nullptr);
}

TEST(OpenedRecordingTest, OneThatIsNoLongerLookedAtIsNotReadToItsEnd) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "long.ebbrec";
  {
    test::MadeRecording recording(file);
    test::play_many(recording, 200'000);
  }
  const auto begin = std::chrono::steady_clock::now();
  { const Played all(file); }
  const auto whole = std::chrono::steady_clock::now() - begin;
  const auto again = std::chrono::steady_clock::now();
  { OpenedRecording opened(file, 0); }
  EXPECT_LT(std::chrono::steady_clock::now() - again, whole);
}

}  // namespace
}  // namespace ebb::cli
