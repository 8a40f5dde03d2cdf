// Processes of this user that let viewers attach, and what they answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "observe/format.hpp"

namespace ebb::cli {

// A file descriptor that is closed with it.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  int number() const noexcept { return number_; }
  bool there() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

struct LiveAnswer {
  std::int64_t pid = 0;
  std::string name, path, recording;
  observe::Mode mode = observe::Mode::kOff;
  std::uint32_t segment = 0;
  std::uint64_t bytes = 0, events = 0, lost = 0;
  bool wishes = false;  // its host takes wishes
  Descriptor file{};    // the recording, where it was asked for
};

// `attach`, `info`, `mode 1` to `mode 3`, `collect`, `holders`. Throws Error(kDevice) where nobody
// answers, Error(kInvalidArgument) where the answer is a refusal or makes no sense.
LiveAnswer ask_process(std::int64_t pid, std::string_view question);

// Those that answer. The sockets of killed ones are taken away.
std::vector<LiveAnswer> live_processes();

// `wanted`, or the only one there is. Throws Error where there is none or more than one.
std::int64_t chosen_process(std::int64_t wanted);

// A recording's file, or a process: nothing but digits, and no such file.
bool names_process(const std::string& text);

}  // namespace ebb::cli
