// The team where there is no libgomp that could be loaded: Ebb's own crew. A loop that comes while another
// thread has the crew runs on its caller alone.
#if defined(EBB_OWN_TEAM) && !defined(__SANITIZE_THREAD__)
#include <algorithm>
#include <cstdlib>
#include <thread>

#include "backends/cpu/crew.hpp"
#include "backends/cpu/team.hpp"

namespace ebb::cpu {
namespace {

thread_local Team::Part here{0, 1};
thread_local int alone = 0;

int wanted_threads() {
  const char* given = std::getenv("OMP_NUM_THREADS");
  const int number = given == nullptr ? 0 : std::atoi(given);
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(number > 0 ? number : cores, 1, Crew::kMostHelpers + 1);
}

struct Work {
  void (*body)(void*);
  void* data;
  int threads;
};

void do_part(void* data, std::int64_t begin, std::int64_t end) {
  const Work& work = *static_cast<const Work*>(data);
  for (; begin < end; ++begin) {
    here = {static_cast<int>(begin), work.threads};
    work.body(work.data);
    here = {0, 1};
  }
}

}  // namespace

int Team::size() noexcept {
  static const int threads = wanted_threads();
  return threads;
}

int Team::available() noexcept { return alone == 0 && here.count == 1 ? size() : 1; }

void Team::run(int threads, void (*body)(void*), void* data) noexcept {
  Work work{body, data, threads};
  Crew& crew = Crew::here();
  if (threads > 1 && crew.hire()) {
    crew.call(threads - 1);
    crew.run({do_part, &work, threads, threads});
    crew.dismiss();
    return;
  }
  do_part(&work, 0, threads);
}

Team::Part Team::part() noexcept { return here; }

void Team::load() noexcept {}

Alone::Alone(bool wanted) noexcept : before_(wanted ? 1 : 0) { alone += before_; }

Alone::~Alone() { alone -= before_; }

}  // namespace ebb::cpu
#endif  // EBB_OWN_TEAM
