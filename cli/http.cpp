#include "cli/http.hpp"

#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "ebb/base/error.hpp"

namespace ebb::cli {
namespace {

constexpr std::size_t kMostRequest = 16u << 10;
constexpr auto kPatience = std::chrono::seconds(5);

[[noreturn]] void refuse() { raise(ErrorKind::kInvalidArgument, "[view] this is no request"); }

// Up to the separator, which is taken too.
std::string_view take_until(std::string_view& text, std::string_view separator) {
  const std::size_t end = text.find(separator);
  if (end == std::string_view::npos) refuse();
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end + separator.size());
  return taken;
}

std::map<std::string, std::string> parse_query(std::string_view text) {
  std::map<std::string, std::string> query;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    query[std::string(pair.substr(0, equals))] = pair.substr(std::min(equals + 1, pair.size()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return query;
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 303:
      return "See Other";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Error";
  }
}

// "" where it is too long or too slow.
std::string received(int connection) {
  std::string text;
  std::array<char, 4096> bytes;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (text.find("\r\n\r\n") == std::string::npos) {
    if (text.size() > kMostRequest || std::chrono::steady_clock::now() > until) return "";
    const ssize_t got = ::recv(connection, bytes.data(), bytes.size(), 0);
    if (got <= 0) return "";
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return text;
}

void send_all(int connection, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

std::string HttpRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

HttpRequest parse_request(std::string_view text) {
  HttpRequest request;
  std::string_view line = take_until(text, "\r\n");
  request.method = take_until(line, " ");
  std::string_view target = take_until(line, " ");
  if (!line.starts_with("HTTP/1.") || target.empty() || target[0] != '/') refuse();
  const std::size_t query = std::min(target.find('?'), target.size());
  request.path = target.substr(0, query);
  request.query = parse_query(target.substr(std::min(query + 1, target.size())));
  while (!text.starts_with("\r\n")) {
    std::string_view header = take_until(text, "\r\n");
    std::string name(take_until(header, ":"));
    std::ranges::transform(name, name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    while (header.starts_with(' ')) header.remove_prefix(1);
    // Said twice, it is not clear what is meant.
    if (!request.headers.emplace(name, header).second) refuse();
  }
  return request;
}

std::string to_text(const HttpReply& reply, bool with_body) {
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", reply.status,
                  reason_of(reply.status), reply.type, reply.body.size());
  for (const auto& [name, value] : reply.headers) text += fmt::format("{}: {}\r\n", name, value);
  text += "Connection: close\r\n\r\n";
  return with_body ? text + reply.body : text;
}

LoopbackServer::LoopbackServer(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  const int on = 1;
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (socket_ < 0 || ::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(socket_, kMostConnections) != 0 ||
      ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const std::string why = std::generic_category().message(errno);
    if (socket_ >= 0) ::close(socket_);
    raise(ErrorKind::kDevice, "[view] cannot listen at 127.0.0.1:{}: {}", port, why);
  }
  port_ = ntohs(address.sin_port);
}

LoopbackServer::~LoopbackServer() { ::close(socket_); }

void LoopbackServer::run(const Handler& handler, const std::function<bool()>& stop) {
  while (!stop()) {
    pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, 200) <= 0) continue;
    const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    if (connections_.load() >= kMostConnections) {
      ::close(connection);
      continue;
    }
    ++connections_;
    std::thread([this, connection, &handler] {
      serve(connection, handler);
      ::close(connection);
      --connections_;
    }).detach();
  }
  while (connections_.load() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

void LoopbackServer::serve(int connection, const Handler& handler) noexcept {
  const timeval patience{.tv_sec = kPatience.count(), .tv_usec = 0};
  ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  try {
    const std::string text = received(connection);
    if (text.empty()) return;
    HttpReply reply{.status = 400, .body = "this is no request\n"};
    bool with_body = true;
    try {
      const HttpRequest request = parse_request(text);
      with_body = request.method != "HEAD";
      reply = handler(request);
    } catch (const Error& error) {
      reply.body = std::string(error.what()) + '\n';
    }
    send_all(connection, to_text(reply, with_body));
  } catch (const std::exception&) {  // no memory for it
  }
}

}  // namespace ebb::cli
