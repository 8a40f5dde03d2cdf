#include "backends/cpu/dnn_gate.hpp"

#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/fork.hpp"
#include "ebb/base/error.hpp"

namespace ebb::cpu {
namespace {

enum class Gate : unsigned char { kOpen, kForking, kShut };

// A thread's place in the list of those that use oneDNN. It is looked at as long as its thread
// runs, so also after its destructors.
struct Seat {
  std::atomic<int> inside{0};  // how deep; written by its thread
  Seat* next = nullptr;
};

struct State {
  std::mutex mutex;  // guards the list; held through a fork
  std::atomic<Gate> gate{Gate::kOpen};
  std::atomic<Seat*> ender{nullptr};  // of the thread that ends the process: it passes
  Seat* first = nullptr;
  unsigned forks = 0;  // written while there is one thread
};
constinit State g_state;
constinit thread_local Seat t_seat;

void arm_fork() noexcept;

class Listed {
 public:
  Listed() noexcept {
    arm_fork();
    const std::lock_guard lock(g_state.mutex);
    t_seat.next = g_state.first;
    g_state.first = &t_seat;
  }
  ~Listed() {
    const std::lock_guard lock(g_state.mutex);
    Seat** link = &g_state.first;
    while (*link != nullptr && *link != &t_seat) link = &(*link)->next;
    if (*link != nullptr) *link = t_seat.next;
  }
};

Seat& seat_here() noexcept {
  thread_local const Listed listed;
  return t_seat;
}

// Pre: the lock is held, and the gate is not open: nobody comes in any more.
void wait_until_others_are_out(const Seat* mine, std::chrono::steady_clock::time_point until) {
  for (const Seat* seat = g_state.first; seat != nullptr; seat = seat->next) {
    while (seat != mine && seat->inside.load() != 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

// A step of oneDNN's that takes longer than this is not waited for.
std::chrono::steady_clock::time_point patience() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(30);
}

void before_fork() noexcept {
  const Seat& mine = seat_here();
  g_state.mutex.lock();
  Gate open = Gate::kOpen;
  g_state.gate.compare_exchange_strong(open, Gate::kForking);
  wait_until_others_are_out(&mine, patience());
}

void reopen() noexcept {
  Gate forking = Gate::kForking;
  g_state.gate.compare_exchange_strong(forking, Gate::kOpen);
  g_state.mutex.unlock();
}

// The seats of the threads that are not here lie in memory that others will use.
void reopen_for_one() noexcept {
  g_state.first = &t_seat;
  g_state.first->next = nullptr;
  ++g_state.forks;
  reopen();
}

void arm_fork() noexcept {
  static constinit ForkHook hook{ForkRank::kWorkers, before_fork, reopen, reopen_for_one};
  static std::once_flag once;
  std::call_once(once, [] { at_fork(hook); });
}

void shut() noexcept {
  const std::lock_guard lock(g_state.mutex);
  g_state.ender.store(&t_seat);
  g_state.gate.store(Gate::kShut);
  wait_until_others_are_out(&t_seat, patience());
}

// The store is before the load for all, as the gate's is before its look at the seats: one of the
// two sees the other.
bool come_in(Seat& seat) noexcept {
  const int depth = seat.inside.load(std::memory_order_relaxed);
  seat.inside.store(depth + 1, std::memory_order_seq_cst);
  const Gate gate = g_state.gate.load(std::memory_order_seq_cst);
  if (gate == Gate::kOpen || depth > 0 || g_state.ender.load() == &seat) return true;
  seat.inside.store(depth, std::memory_order_release);
  return false;
}

void go_out(Seat& seat) noexcept {
  seat.inside.store(seat.inside.load(std::memory_order_relaxed) - 1, std::memory_order_release);
}

// Whether it was only a fork.
bool wait_for_fork() noexcept {
  if (g_state.gate.load() == Gate::kShut) return false;
  const std::lock_guard until_it_is_over(g_state.mutex);
  return true;
}

}  // namespace

DnnUse::DnnUse() {
  Seat& seat = seat_here();
  while (!come_in(seat)) {
    if (wait_for_fork()) continue;
    std::this_thread::sleep_for(kWaitForTheEnd);
    raise(ErrorKind::kWrongState, "[oneDNN] the process is ending");
  }
}

DnnUse::~DnnUse() { go_out(t_seat); }

void destroy_unless_ending(void (*destroy)(void*) noexcept, void* data) noexcept {
  Seat& seat = seat_here();
  while (!come_in(seat)) {
    if (!wait_for_fork()) return;
  }
  destroy(data);
  go_out(seat);
}

unsigned forks_behind() noexcept { return g_state.forks; }

void shut_dnn_at_exit() noexcept {
  // Later plans are of kinds that were there before, for all that is known: they need no handler
  // each, which would never be given back.
  constexpr unsigned kFirst = 256;
  static std::atomic<unsigned> times{0};
  const unsigned now = ++times;
  if (now <= kFirst || std::has_single_bit(now)) static_cast<void>(std::atexit(shut));
}

}  // namespace ebb::cpu
