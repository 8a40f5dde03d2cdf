// What a viewer may ask of a process that records, and what it is told. docs/recording.md lists the
// questions. On the recorder's thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "observe/format.hpp"
#include "observe/live_socket.hpp"

namespace ebb::observe {

// What a viewer may want of the host.
enum class Asked : std::uint32_t { kCollect = 1, kHolders = 2 };

struct LiveOptions {
  void (*asked)(void* user, std::uint32_t what) = nullptr;  // null: the host takes no wishes
  void* user = nullptr;
};

struct LiveState {
  bool on = false;
  std::uint64_t answered = 0;
  std::string path;
};

// The recording, as a viewer hears of it.
struct LiveFacts {
  std::string name, path, id;
  Mode mode = Mode::kOff;
  std::uint32_t segment = 0;
  std::uint64_t bytes = 0, events = 0, lost = 0;
  int descriptor = -1;
};

class LiveServer {
 public:
  // Throws Error(kDevice) where the folder is not the user's own.
  explicit LiveServer(const LiveOptions& options);

  using SwitchMode = std::function<void(Mode)>;
  using FactsNow = std::function<LiveFacts()>;
  // Those who wait, without waiting. `facts` flushes first, so that a viewer sees what there is.
  void serve(const FactsNow& facts, const SwitchMode& switch_mode) noexcept;
  void abandon() noexcept { socket_.abandon(); }
  LiveState state() const { return {true, socket_.answered(), socket_.path()}; }

 private:
  LiveSocket::Answer answer(std::string_view question, const FactsNow& facts,
                            const SwitchMode& switch_mode);
  std::string ask_host(Asked what);

  const LiveOptions options_;
  LiveSocket socket_;
};

// True on the recorder's thread while it runs the host's `asked`, which must not wait for itself.
bool is_asking_host() noexcept;

}  // namespace ebb::observe
