// Who is inside oneDNN, for the two moments at which nobody else may be: the end of the process and
// a fork.
//
// At exit oneDNN's own tables are destroyed while other threads may still convolve. So a handler
// that runs before that shuts the gate and waits until the threads that are inside have come out.
// Handlers run in the opposite order of their registration and oneDNN makes its tables when it first
// needs them, so this one is registered again after the first run of a plan. Who
// comes later waits for the end, which is near; if something waits for that thread instead (a pool
// that is destroyed at exit), it is told so by an error after a while.
//
// In the child of a fork a lock of oneDNN's that another thread held would stay taken for ever. So
// a fork waits in the same way, and the gate opens again in both processes.
//
// Passing costs two stores of the thread's own and one load.
#pragma once

#include <chrono>

namespace ebb::cpu {

// Around each call that makes, runs or destroys what is oneDNN's.
class [[nodiscard]] DnnUse {
 public:
  // Waits during a fork. Throws Error(kWrongState) a while after the process has begun to end.
  DnnUse();
  ~DnnUse();
  DnnUse(const DnnUse&) = delete;
  DnnUse& operator=(const DnnUse&) = delete;
};

// Runs `destroy` inside, or not at all where the process is ending: what is left goes with it.
void destroy_unless_ending(void (*destroy)(void*) noexcept, void* data) noexcept;

// How often this process was forked off another. A primitive that was made before runs on as many
// threads as there were then.
unsigned forks_behind() noexcept;

// Once something of oneDNN's has run for the first time.
void shut_dnn_at_exit() noexcept;

// How long a thread that comes after the end has begun waits for it.
inline constexpr std::chrono::seconds kWaitForTheEnd{5};

}  // namespace ebb::cpu
