#include "cli/view.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <mutex>

#include "cli/follower.hpp"
#include "cli/opened_recording.hpp"
#include "ebb/base/error.hpp"

namespace ebb::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// In the same time wherever they differ.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differ |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return differ == 0;
}

std::string cookie(std::string_view all, std::string_view name) {
  while (!all.empty()) {
    const std::size_t end = std::min(all.find(';'), all.size());
    std::string_view pair = all.substr(0, end);
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('=')) {
      return std::string(pair.substr(name.size() + 1));
    }
    all.remove_prefix(std::min(end + 1, all.size()));
  }
  return "";
}

double seconds_of(const HttpRequest& request, const std::string& name) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return 0;
  const std::string& text = found->second;
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !(value >= 0 && value < 1e9)) {
    raise(ErrorKind::kInvalidArgument, "[view] {} is no time", name);
  }
  return value;
}

HttpReply guarded(HttpReply reply) {
  reply.headers.insert({{"Cache-Control", "no-store"},
                        {"Referrer-Policy", "no-referrer"},
                        {"X-Content-Type-Options", "nosniff"},
                        {"X-Frame-Options", "DENY"},
                        {"Cross-Origin-Resource-Policy", "same-origin"},
                        {"Cross-Origin-Opener-Policy", "same-origin"}});
  return reply;
}

HttpReply refused(int status, std::string why) {
  return guarded({.status = status, .body = std::move(why) + '\n'});
}

}  // namespace

View::View(std::uint16_t port, std::string token, Data data)
    : port_(port), token_(std::move(token)), data_(std::move(data)) {}

std::string View::address() const {
  return fmt::format("http://127.0.0.1:{}/?token={}", port_, token_);
}

bool View::is_called_by_name(const HttpRequest& request) const {
  const std::string host = request.header("host"), origin = request.header("origin");
  for (const std::string_view name : {"127.0.0.1", "localhost"}) {
    const std::string own = fmt::format("{}:{}", name, port_);
    if (host == own) return origin.empty() || origin == "http://" + own;
  }
  return false;
}

// Cookies do not know ports: each server's has a name of its own.
bool View::knows_token(const HttpRequest& request) const {
  return same(cookie(request.header("cookie"), fmt::format("ebb-{}", port_)), token_);
}

HttpReply View::answer(const HttpRequest& request) const {
  if (!is_called_by_name(request)) return refused(403, "called by a name that is not its own");
  if (request.header("sec-fetch-site") == "cross-site")
    return refused(403, "called by another page");
  if (request.method != "GET" && request.method != "HEAD") return refused(405, "GET or HEAD");
  const auto given = request.query.find("token");
  if (request.path == "/" && given != request.query.end() && same(given->second, token_)) {
    return guarded(
        {.status = 303,
         .headers = {{"Location", "/"},
                     {"Set-Cookie", fmt::format("ebb-{}={}; HttpOnly; SameSite=Strict; Path=/",
                                                port_, token_)}}});
  }
  if (!knows_token(request))
    return refused(403, "without the token: open the address that was printed");
  if (request.path == "/") {
    return guarded({.type = "text/html; charset=utf-8", .body = page_that_asks()});
  }
  if (request.path == "/data.json") {
    const Span span{.from = seconds_of(request, "from"), .to = seconds_of(request, "to")};
    return guarded({.type = "application/json", .body = data_(span)});
  }
  return refused(404, "there is no such thing here");
}

std::string new_token() {
  std::array<unsigned char, 32> bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0) {
    raise(ErrorKind::kDevice, "[view] the system gives no random numbers");
  }
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

namespace {

View::Data data_of_file(const std::string& file) {
  const auto opened = std::make_shared<OpenedRecording>(file);
  return [opened](const Span& span) { return opened->data(span); };
}

View::Data data_of_process(std::int64_t pid) {
  const auto follower = std::make_shared<Follower>(pid);
  follower->wait_until_current(std::chrono::seconds(60));
  return [follower](const Span&) {
    const bool goes_on = !follower->over();
    return follower->played([&](const Played& now) { return page_data({&now}, goes_on); });
  };
}

}  // namespace

void run_view(const ViewOptions& options) {
  LoopbackServer server(options.port);
  const View view(server.port(), new_token(),
                  options.file.empty() ? data_of_process(chosen_process(options.pid))
                                       : data_of_file(options.file));
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  std::printf("open %s (Ctrl-C ends it)\n", view.address().c_str());
  std::fflush(stdout);
  server.run([&](const HttpRequest& request) { return view.answer(request); },
             [] { return interrupted != 0; });
}

}  // namespace ebb::cli
