// The team that is OpenMP's. Under ThreadSanitizer team_threads.cpp takes its place, where there is no
// libgomp team_own.cpp.
#if !defined(__SANITIZE_THREAD__) && !defined(EBB_OWN_TEAM)
#include "backends/cpu/team.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "base/fork.hpp"

namespace ebb::cpu {
namespace {

// About ten microseconds: back-to-back loops find the team awake, an idle team is off the cores.
constexpr const char* kSpinCount = "2000";

struct OpenMp {
  void (*parallel)(void (*)(void*), void*, unsigned, unsigned) = nullptr;
  int (*thread_num)() = nullptr;
  int (*num_threads)() = nullptr;
  int (*max_threads)() = nullptr;
  int (*in_parallel)() = nullptr;
  void (*set_num_threads)(int) = nullptr;
  int size = 1;

  bool there() const { return parallel != nullptr; }
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// libgomp reads the environment in its constructor and never again.
void* load_waiting_passively() {
  if (void* loaded = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD)) {
    return loaded;
  }
  const bool decided =
      std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr;
  if (!decided) {
    setenv("GOMP_SPINCOUNT", kSpinCount, 1);
  }
  void* library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!decided) {
    unsetenv("GOMP_SPINCOUNT");
  }
  return library;
}

void go_on_without_team() noexcept;

OpenMp load_openmp() {
  OpenMp openmp;
  void* library = load_waiting_passively();
  const bool complete = library != nullptr &&
                        find(library, "omp_get_thread_num", openmp.thread_num) &&
                        find(library, "omp_get_num_threads", openmp.num_threads) &&
                        find(library, "omp_get_max_threads", openmp.max_threads) &&
                        find(library, "omp_in_parallel", openmp.in_parallel) &&
                        find(library, "omp_set_num_threads", openmp.set_num_threads) &&
                        find(library, "GOMP_parallel", openmp.parallel);
  if (!complete) {
    return {};
  }
  openmp.size = openmp.max_threads();
  static constinit ForkHook hook{ForkRank::kWorkers, []() noexcept {}, []() noexcept {},
                                 go_on_without_team};
  at_fork(hook);
  return openmp;
}

const OpenMp& openmp() {
  static const OpenMp loaded = load_openmp();
  return loaded;
}

// libgomp keeps the threads of a team for the thread that started it, and does not learn of a fork.
thread_local bool has_team = false;

void go_on_without_team() noexcept {
  if (has_team) openmp().set_num_threads(1);
}

}  // namespace

int Team::size() noexcept { return openmp().size; }

int Team::available() noexcept {
  return openmp().there() && openmp().in_parallel() == 0 ? openmp().max_threads() : 1;
}

void Team::run(int threads, void (*body)(void*), void* data) noexcept {
  if (threads <= 1 || !openmp().there()) {
    body(data);
    return;
  }
  has_team = true;
  openmp().parallel(body, data, static_cast<unsigned>(threads), 0);
}

Team::Part Team::part() noexcept {
  if (!openmp().there()) {
    return {0, 1};
  }
  return {openmp().thread_num(), openmp().num_threads()};
}

void Team::load() noexcept { openmp(); }

Alone::Alone(bool alone) noexcept : before_(alone ? Team::available() : 0) {
  if (before_ > 1) {
    openmp().set_num_threads(1);
  } else if (!alone) {
    has_team = true;
  }
}

Alone::~Alone() {
  if (before_ > 1) openmp().set_num_threads(before_);
}

}  // namespace ebb::cpu
#endif  // __SANITIZE_THREAD__
