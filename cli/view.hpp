// The report's page over HTTP, for recordings that are too large for one file and for processes that
// still run. Whoever asks must come from this machine (the server listens nowhere else), call it by
// its own name (so that no page elsewhere reaches it by a name of its own), and know the token.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "cli/http.hpp"
#include "cli/page.hpp"

namespace ebb::cli {

class View {
 public:
  // JSON as page_data gives it: of this span in seconds, or of everything.
  using Data = std::function<std::string(const Span& span)>;

  View(std::uint16_t port, std::string token, Data data);

  // Any thread.
  HttpReply answer(const HttpRequest& request) const;
  // What to open: the token goes into a cookie, and out of sight, at the first answer.
  std::string address() const;

 private:
  bool is_called_by_name(const HttpRequest& request) const;
  bool knows_token(const HttpRequest& request) const;

  const std::uint16_t port_;
  const std::string token_;
  const Data data_;
};

// 256 bits, as 64 digits.
std::string new_token();

struct ViewOptions {
  std::string file;  // a recording; "": a process
  std::int64_t pid = 0;
  std::uint16_t port = 0;
};
// Says the address, and serves until Ctrl-C.
void run_view(const ViewOptions& options);

}  // namespace ebb::cli
