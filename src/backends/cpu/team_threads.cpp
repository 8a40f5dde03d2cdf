// The team under ThreadSanitizer: threads that are started and joined for each loop.
//
// libgomp synchronises by futexes that ThreadSanitizer does not see, so that every loop would be
// reported, right or wrong. Starting and joining it does see: a race between two parts of a loop,
// or of a loop with what its caller does besides, is found. oneDNN's own loops run on one thread.
#if defined(__SANITIZE_THREAD__)
#include <array>
#include <cstdlib>
#include <exception>
#include <thread>

#include "backends/cpu/team.hpp"

namespace ebb::cpu {
namespace {

// More than this machine may have cores: parts interleave as they like.
constexpr int kThreads = 4;

thread_local Team::Part here{0, 1};
thread_local int alone = 0;

}  // namespace

int Team::size() noexcept { return kThreads; }

int Team::available() noexcept { return alone == 0 && here.count == 1 ? kThreads : 1; }

void Team::run(int threads, void (*body)(void*), void* data) noexcept {
  const auto work = [=](int index) {
    here = {index, threads};
    body(data);
    here = {0, 1};
  };
  std::array<std::thread, kThreads> others;
  int started = 1;
  try {
    for (; started < threads; ++started) others[started] = std::thread(work, started);
  } catch (const std::exception&) {  // the caller does the parts that found no thread
  }
  work(0);
  for (int index = started; index < threads; ++index) work(index);
  for (int index = 1; index < started; ++index) others[index].join();
}

Team::Part Team::part() noexcept { return here; }

// libgomp reads the environment when oneDNN loads it.
void Team::load() noexcept { setenv("OMP_NUM_THREADS", "1", 1); }

Alone::Alone(bool wanted) noexcept : before_(wanted ? 1 : 0) { alone += before_; }

Alone::~Alone() { alone -= before_; }

}  // namespace ebb::cpu
#endif  // __SANITIZE_THREAD__
