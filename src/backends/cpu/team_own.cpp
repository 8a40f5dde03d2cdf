// The team where there is no libgomp that could be loaded: threads of Ebb's own, which sleep
// between loops.
//
// A loop's parts are taken one by one, by the thread that started it like by the others, so that a
// thread that wakes late keeps nobody waiting. There is one crew: a loop that comes while another
// thread's is under way runs on its caller alone. The child of a fork starts a crew of its own.
#if defined(EBB_OWN_TEAM) && !defined(__SANITIZE_THREAD__)
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include "backends/cpu/team.hpp"
#include "base/fork.hpp"

namespace ebb::cpu {
namespace {

thread_local Team::Part here{0, 1};
thread_local int alone = 0;

int wanted_threads() {
  constexpr int kMost = 256;
  const char* given = std::getenv("OMP_NUM_THREADS");
  const int number = given == nullptr ? 0 : std::atoi(given);
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(number > 0 ? number : cores, 1, kMost);
}

void do_part(int index, int count, void (*body)(void*), void* data) {
  here = {index, count};
  body(data);
  here = {0, 1};
}

class Crew {
 public:
  // False: it is at work for another thread.
  bool run(int parts, void (*body)(void*), void* data) {
    const std::unique_lock use(use_, std::try_to_lock);
    if (!use.owns_lock()) return false;
    std::unique_lock lock(mutex_);
    start(parts - 1);
    body_ = body;
    data_ = data;
    next_ = done_ = 0;
    parts_ = parts;
    wake_.notify_all();
    take_parts(lock);
    finished_.wait(lock, [&] { return done_ == parts_; });
    parts_ = 0;
    return true;
  }

 private:
  // Fewer than asked for where the system has no more: the parts are taken all the same.
  void start(int threads) {
    try {
      for (; started_ < threads; ++started_) std::thread([this] { wait_for_parts(); }).detach();
    } catch (const std::exception&) {
    }
  }
  [[noreturn]] void wait_for_parts() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return next_ < parts_; });
      take_parts(lock);
    }
  }
  void take_parts(std::unique_lock<std::mutex>& lock) {
    while (next_ < parts_) {
      const int index = next_++;
      const int parts = parts_;
      const auto body = body_;
      void* const data = data_;
      lock.unlock();
      do_part(index, parts, body, data);
      lock.lock();
      if (++done_ == parts_) finished_.notify_one();
    }
  }

  std::mutex use_;  // for the length of a loop
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable finished_;
  void (*body_)(void*) = nullptr;
  void* data_ = nullptr;
  int parts_ = 0;
  int next_ = 0;
  int done_ = 0;
  int started_ = 0;
};

// Never destroyed: its threads wait until the process ends.
alignas(Crew) std::byte crew_room[sizeof(Crew)];

const bool crew_is_made = [] {
  new (crew_room) Crew;
  static constinit ForkHook hook{ForkRank::kWorkers, []() noexcept {}, []() noexcept {},
                                 []() noexcept { new (crew_room) Crew; }};
  at_fork(hook);
  return true;
}();

Crew& crew() { return *std::launder(reinterpret_cast<Crew*>(crew_room)); }

}  // namespace

int Team::size() noexcept {
  static const int threads = wanted_threads();
  return threads;
}

int Team::available() noexcept { return alone == 0 && here.count == 1 ? size() : 1; }

void Team::run(int threads, void (*body)(void*), void* data) noexcept {
  if (threads > 1 && crew_is_made && crew().run(threads, body, data)) return;
  for (int index = 0; index < threads; ++index) do_part(index, threads, body, data);
}

Team::Part Team::part() noexcept { return here; }

void Team::load() noexcept {}

Alone::Alone(bool wanted) noexcept : before_(wanted ? 1 : 0) { alone += before_; }

Alone::~Alone() { alone -= before_; }

}  // namespace ebb::cpu
#endif  // EBB_OWN_TEAM
