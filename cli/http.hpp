// As much of HTTP/1.1 as a viewer on the same machine needs: GET and HEAD, one request a connection,
// on 127.0.0.1 only. What is too long, too slow or malformed gets 400 and the end.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace ebb::cli {

struct HttpRequest {
  std::string method{}, path{};
  std::map<std::string, std::string> query{}, headers{};  // names of headers in small letters

  // "" where there is none.
  std::string header(const std::string& name) const;
};

struct HttpReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  std::map<std::string, std::string> headers{};
};

// Throws Error(kInvalidArgument) where it is none.
HttpRequest parse_request(std::string_view text);
std::string to_text(const HttpReply& reply, bool with_body);

class LoopbackServer {
 public:
  using Handler = std::function<HttpReply(const HttpRequest&)>;

  // `port` 0: any. Throws Error(kDevice) where it is taken.
  explicit LoopbackServer(std::uint16_t port);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  // Until `stop` is true; a thread for each connection, so that none holds up another.
  void run(const Handler& handler, const std::function<bool()>& stop);

 private:
  static constexpr int kMostConnections = 32;

  void serve(int connection, const Handler& handler) noexcept;

  int socket_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
};

}  // namespace ebb::cli
