// The threads that kernels share: oneDNN's OpenMP team, so that Ebb's own parallel loops and
// oneDNN's run on the same cores and never beside each other.
//
// The team waits passively. A waiting OpenMP thread usually spins for milliseconds; with one core
// busy elsewhere the thread that has work then waits for one that spins, and a convolution takes
// eight times as long. How long libgomp spins is decided when it is loaded, from the environment,
// so Ebb loads it itself, at the first parallel loop, with the environment set for that moment. A
// program that has loaded libgomp before, or sets OMP_WAIT_POLICY or GOMP_SPINCOUNT, keeps its own
// choice.
//
// After a fork the child has no team, and libgomp would wait for one. The thread that forked goes on
// alone if it had a team; the others that the child starts have teams as usual.
#pragma once

namespace ebb::cpu {

class Team {
 public:
  // How many threads a parallel loop may use, the caller included; 1 where there is no OpenMP.
  static int size() noexcept;
  // How many this thread may use now: size(), or 1 while it is Alone or inside a parallel loop.
  static int available() noexcept;

  // Runs body(data) on `threads` threads, the caller among them, and returns when all have ended.
  // body asks part() for its place. It must not throw, allocate from a pool, or start another
  // parallel loop.
  static void run(int threads, void (*body)(void*), void* data) noexcept;

  struct Part {
    int index;
    int count;
  };
  // Inside body: which of how many threads this is. There may be fewer than were asked for.
  static Part part() noexcept;

  // Loads libgomp if nothing has; what loads a library that needs it calls this first.
  static void load() noexcept;
};

// While it lives, what this thread starts runs on this thread alone: a parallel region costs more
// than small work. The program's own choice (omp_set_num_threads) is back after it.
class Alone {
 public:
  explicit Alone(bool alone) noexcept;
  ~Alone();
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  int before_;  // how many threads it may use without; 0 or 1: nothing is to be put back
};

}  // namespace ebb::cpu
