#include "observe/live_server.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "base/json_writer.hpp"

namespace ebb::observe {
namespace {

thread_local bool asking_host = false;

std::string refused(std::string_view why) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("error", why);
  json.end_object();
  return text;
}

std::string described(const LiveFacts& facts, bool takes_wishes) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("protocol", 1u);
  json.member("pid", std::int64_t{::getpid()});
  json.member("name", std::string_view(facts.name));
  json.member("path", std::string_view(facts.path));
  json.member("recording", std::string_view(facts.id));
  json.member("mode", static_cast<std::uint32_t>(facts.mode));
  json.member("segment", facts.segment);
  json.member("bytes", facts.bytes);
  json.member("events", facts.events);
  json.member("lost", facts.lost);
  json.member("wishes", takes_wishes);
  json.end_object();
  return text;
}

// The same file, to be read only, with a place of its own.
int reopened(int descriptor) {
  return ::open(fmt::format("/proc/self/fd/{}", descriptor).c_str(), O_RDONLY | O_CLOEXEC);
}

}  // namespace

bool is_asking_host() noexcept { return asking_host; }

LiveServer::LiveServer(const LiveOptions& options)
    : options_(options), socket_(OwnFolder::of_user(), fmt::format("{}.sock", ::getpid())) {}

void LiveServer::serve(const FactsNow& facts, const SwitchMode& switch_mode) noexcept {
  socket_.serve([&](std::string_view question) { return answer(question, facts, switch_mode); });
}

LiveSocket::Answer LiveServer::answer(std::string_view question, const FactsNow& facts,
                                      const SwitchMode& switch_mode) {
  const bool takes_wishes = options_.asked != nullptr;
  if (question == "info") return {.line = described(facts(), takes_wishes)};
  if (question == "attach") {
    const LiveFacts now = facts();
    return {.line = described(now, takes_wishes), .file = reopened(now.descriptor)};
  }
  if (question == "mode 1" || question == "mode 2" || question == "mode 3") {
    switch_mode(Mode(question.back() - '0'));
    return {.line = described(facts(), takes_wishes)};
  }
  if (question == "collect") return {.line = ask_host(Asked::kCollect)};
  if (question == "holders") return {.line = ask_host(Asked::kHolders)};
  return {.line = refused("this is not a question")};
}

std::string LiveServer::ask_host(Asked what) {
  if (options_.asked == nullptr) return refused("this host takes no wishes");
  asking_host = true;
  options_.asked(options_.user, static_cast<std::uint32_t>(what));
  asking_host = false;
  return "{\"asked\":true}";
}

}  // namespace ebb::observe
