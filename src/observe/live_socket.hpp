// The socket at which viewers ask a running process. One thread serves it, a little at a time, and
// never waits: whoever is slow, silent or says nonsense is turned away.
//
// A question is a line of at most kMostQuestion bytes; the answer is a line of JSON, with the open
// file of the recording where it was asked for, and the end of the connection.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/own_folder.hpp"

namespace ebb::observe {

class LiveSocket {
 public:
  static constexpr std::size_t kMostQuestion = 256, kMostViewers = 16;
  static constexpr auto kPatience = std::chrono::seconds(1);

  struct Answer {
    std::string line;
    int file = -1;  // sent along, and closed
  };
  using Answers = std::function<Answer(std::string_view question)>;

  // Throws Error(kDevice) where the system refuses.
  LiveSocket(OwnFolder folder, std::string name);
  ~LiveSocket();
  LiveSocket(const LiveSocket&) = delete;
  LiveSocket& operator=(const LiveSocket&) = delete;

  // Whoever is there, without waiting. Never throws: a viewer's misfortune is its own.
  void serve(const Answers& answers) noexcept;
  // In the child of a fork: nobody reaches it there, and the name stays the parent's. Who was being
  // served is left alone: the parent's thread may have been about it.
  void abandon() noexcept;

  const std::string& path() const noexcept { return path_; }
  std::uint64_t answered() const noexcept { return answered_; }

 private:
  struct Viewer {
    int connection;
    std::chrono::steady_clock::time_point until;
    std::string question{};
  };

  void listen();
  void let_in();
  bool goes_on(Viewer& viewer, const Answers& answers);
  void send(int connection, const Answer& answer);

  OwnFolder folder_;
  const std::string name_, path_;
  int socket_ = -1;
  std::vector<Viewer> viewers_;
  std::uint64_t answered_ = 0;
};

// Whether the other end is this user's process. (A folder that is the user's own lets no other in;
// this is for descriptors that were handed on.)
bool is_own_peer(int connection) noexcept;

}  // namespace ebb::observe
