#include "cli/live_client.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "ebb/base/error.hpp"
#include "observe/live_socket.hpp"

namespace ebb::cli {
namespace {

constexpr std::size_t kMostAnswer = 64u << 10;
constexpr timeval kPatience{.tv_sec = 3, .tv_usec = 0};

std::string socket_name(std::int64_t pid) { return fmt::format("{}.sock", pid); }

Descriptor connected(const observe::OwnFolder& folder, std::int64_t pid) {
  Descriptor connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string at = folder.through_descriptor(socket_name(pid));
  if (!connection.there() || at.size() >= sizeof address.sun_path) return {};
  std::copy(at.begin(), at.end(), address.sun_path);
  ::setsockopt(connection.number(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(connection.number(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  if (::connect(connection.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
          0 ||
      !observe::is_own_peer(connection.number())) {
    return {};
  }
  return connection;
}

// Some bytes of the answer; the file that came with them, if one did.
ssize_t receive(int connection, std::span<char> to, Descriptor& file) {
  iovec part{to.data(), to.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  for (cmsghdr* header = got < 0 ? nullptr : CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header), sizeof number);
    file = Descriptor(number);
  }
  return got;
}

LiveAnswer understood(const std::string& line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  const auto refuse = [](std::string_view why) {
    raise(ErrorKind::kInvalidArgument, "[live] the process answers: {}", why);
  };
  if (!json.is_object()) refuse("nonsense");
  if (const auto error = json.find("error"); error != json.end() && error->is_string()) {
    refuse(error->get<std::string>());
  }
  const auto text = [&](const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto number = [&](const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  };
  LiveAnswer answer;
  answer.pid = static_cast<std::int64_t>(number("pid"));
  answer.name = text("name");
  answer.path = text("path");
  answer.recording = text("recording");
  answer.mode = observe::Mode(std::min<std::uint64_t>(number("mode"), 3));
  answer.segment = static_cast<std::uint32_t>(number("segment"));
  answer.bytes = number("bytes");
  answer.events = number("events");
  answer.lost = number("lost");
  const auto wishes = json.find("wishes");
  answer.wishes = wishes != json.end() && wishes->is_boolean() && wishes->get<bool>();
  return answer;
}

LiveAnswer asked(const observe::OwnFolder& folder, std::int64_t pid, std::string_view question) {
  const auto gone = [&] {
    raise(ErrorKind::kDevice,
          "[live] process {} lets nobody attach: it does not record, has ended, or is another "
          "user's (looked in {})",
          pid, folder.path());
  };
  const Descriptor connection = connected(folder, pid);
  if (!connection.there()) gone();
  const std::string line = std::string(question) + '\n';
  if (::send(connection.number(), line.data(), line.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(line.size())) {
    gone();
  }
  std::string answer;
  Descriptor file;
  std::array<char, 4096> bytes;
  while (answer.size() < kMostAnswer && answer.find('\n') == std::string::npos) {
    const ssize_t got = receive(connection.number(), bytes, file);
    if (got < 0 && errno == EAGAIN) {
      raise(ErrorKind::kDevice, "[live] process {} does not answer: it was stopped, or is held up",
            pid);
    }
    if (got <= 0) gone();
    answer.append(bytes.data(), static_cast<std::size_t>(got));
  }
  LiveAnswer understood_answer = understood(answer);
  understood_answer.file = std::move(file);
  return understood_answer;
}

// 0 where it is no process's socket.
std::int64_t pid_of(const std::string& name) {
  std::int64_t pid = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, pid);
  return error == std::errc() && std::string_view(stop, end) == ".sock" ? pid : 0;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}
Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

LiveAnswer ask_process(std::int64_t pid, std::string_view question) {
  return asked(observe::OwnFolder::of_user(), pid, question);
}

std::vector<LiveAnswer> live_processes() {
  const observe::OwnFolder folder = observe::OwnFolder::of_user();
  std::vector<LiveAnswer> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(), error)) {
    const std::int64_t pid = pid_of(entry.path().filename().string());
    if (pid == 0) continue;
    try {
      found.push_back(asked(folder, pid, "info"));
    } catch (const Error&) {
      // Where no such process is, nobody will ever answer there.
      if (!std::filesystem::exists(fmt::format("/proc/{}", pid))) {
        ::unlinkat(folder.descriptor(), socket_name(pid).c_str(), 0);
      }
    }
  }
  std::ranges::sort(found, {}, &LiveAnswer::pid);
  return found;
}

std::int64_t chosen_process(std::int64_t wanted) {
  if (wanted != 0) return wanted;
  const std::vector<LiveAnswer> all = live_processes();
  if (all.size() == 1) return all[0].pid;
  if (all.empty()) {
    raise(ErrorKind::kDevice, "[live] no process of yours lets viewers attach (looked in {})",
          observe::OwnFolder::of_user().path());
  }
  std::string list;
  for (const LiveAnswer& each : all) list += fmt::format(" {} ({})", each.pid, each.name);
  raise(ErrorKind::kInvalidArgument, "[live] say which:{}", list);
}

bool names_process(const std::string& text) {
  return !text.empty() && text.size() < 19 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }) &&
         !std::filesystem::exists(text);
}

}  // namespace ebb::cli
