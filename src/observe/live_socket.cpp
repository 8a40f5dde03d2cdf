#include "observe/live_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "ebb/base/error.hpp"

namespace ebb::observe {

bool is_own_peer(int connection) noexcept {
  struct ucred peer {};
  socklen_t size = sizeof peer;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

LiveSocket::LiveSocket(OwnFolder folder, std::string name)
    : folder_(std::move(folder)), name_(std::move(name)), path_(folder_.path() + '/' + name_) {
  try {
    listen();
  } catch (...) {
    abandon();
    throw;
  }
}

LiveSocket::~LiveSocket() {
  if (socket_ >= 0) ::unlinkat(folder_.descriptor(), name_.c_str(), 0);
  for (const Viewer& viewer : viewers_) ::close(viewer.connection);
  abandon();
}

void LiveSocket::listen() {
  const auto check = [&](int result) {
    if (result >= 0) return;
    raise(ErrorKind::kDevice, "[live] cannot listen at {}: {}", path_,
          std::generic_category().message(errno));
  };
  check(socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string at = folder_.through_descriptor(name_);
  if (at.size() >= sizeof address.sun_path) {
    raise(ErrorKind::kInvalidArgument, "[live] {} is too long a name", name_);
  }
  std::copy(at.begin(), at.end(), address.sun_path);
  // One of an earlier process of this number, which was killed.
  ::unlinkat(folder_.descriptor(), name_.c_str(), 0);
  check(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address));
  check(::fchmodat(folder_.descriptor(), name_.c_str(), 0600, 0));
  check(::listen(socket_, static_cast<int>(kMostViewers)));
}

void LiveSocket::abandon() noexcept {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

void LiveSocket::serve(const Answers& answers) noexcept {
  try {
    let_in();
    std::erase_if(viewers_, [&](Viewer& viewer) {
      if (goes_on(viewer, answers)) return false;
      ::close(viewer.connection);
      return true;
    });
  } catch (...) {  // no memory: they may ask again
  }
}

void LiveSocket::let_in() {
  while (viewers_.size() < kMostViewers) {
    const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (connection < 0) return;
    if (!is_own_peer(connection)) {
      ::close(connection);
      continue;
    }
    viewers_.reserve(kMostViewers);
    viewers_.push_back({connection, std::chrono::steady_clock::now() + kPatience});
  }
}

bool LiveSocket::goes_on(Viewer& viewer, const Answers& answers) {
  std::array<char, kMostQuestion> bytes;
  const ssize_t got = ::recv(viewer.connection, bytes.data(), bytes.size(), 0);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
  if (got > 0) viewer.question.append(bytes.data(), static_cast<std::size_t>(got));
  const std::size_t end = viewer.question.find('\n');
  if (end == std::string::npos) {
    return viewer.question.size() < kMostQuestion &&
           std::chrono::steady_clock::now() < viewer.until;
  }
  const Answer answer = answers(std::string_view(viewer.question).substr(0, end));
  send(viewer.connection, answer);
  if (answer.file >= 0) ::close(answer.file);
  ++answered_;
  return false;
}

// What does not fit into the socket at once is not sent: answers are short.
void LiveSocket::send(int connection, const Answer& answer) {
  std::string line = answer.line + '\n';
  iovec part{line.data(), line.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (answer.file >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &answer.file, sizeof(int));
  }
  ::sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace ebb::observe
