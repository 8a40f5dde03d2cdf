#include "support/torch_peer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace ebb::bench {
namespace {

constexpr const char* kBefore = R"(
import functools, sys, time, torch
torch.set_num_threads(2)
)";

// One line in: how many steps. One line out: microseconds of each. The step before those that count
// wakes PyTorch's threads; the pause after them lets them sleep, so that they do not spin in the turn
// of the other process.
constexpr const char* kTurns = R"(
for _ in range(20): step()
print('ready', flush=True)
for line in sys.stdin:
    count = int(line)
    step()
    start = time.perf_counter()
    for _ in range(count): step()
    each = (time.perf_counter() - start) / count * 1e6
    time.sleep(0.02)
    print(each, flush=True)
)";

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read = ends[0];
    write = ends[1];
  }
  int read;
  int write;
};

}  // namespace

const char* python_with_torch() {
  static const char* const named = [] {
    const char* python = std::getenv("EBB_TORCH_PYTHON");
    if (python == nullptr) {
      fmt::print("EBB_TORCH_PYTHON names no Python: the rows to PyTorch's are left out\n");
    }
    return python;
  }();
  return named;
}

TorchPeer::TorchPeer(const std::string& python, const std::string& program) {
  const std::string all = kBefore + program + kTurns;
  const Pipe to, from;
  child_ = ::fork();
  if (child_ == 0) {
    ::dup2(to.read, 0);
    ::dup2(from.write, 1);
    ::execl(python.c_str(), python.c_str(), "-c", all.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(to.read);
  ::close(from.write);
  to_ = ::fdopen(to.write, "w");
  from_ = ::fdopen(from.read, "r");
  std::array<char, 16> said{};
  if (std::fscanf(from_, "%15s", said.data()) != 1 || std::string(said.data()) != "ready") {
    throw std::runtime_error(python + " cannot import torch, or not run the step");
  }
}

TorchPeer::~TorchPeer() {
  std::fclose(to_);
  std::fclose(from_);
  ::waitpid(child_, nullptr, 0);
}

double TorchPeer::step_us(long steps) {
  std::fprintf(to_, "%ld\n", steps);
  std::fflush(to_);
  double us = 0;
  if (std::fscanf(from_, "%lf", &us) != 1) throw std::runtime_error("PyTorch's process has ended");
  return us;
}

void add_to_torch(Figures& figures, const std::string& figure, const std::function<void()>& ours,
                  const TorchWork& theirs, double goal) {
  const char* python = python_with_torch();
  if (python == nullptr) return;
  // Kept in a name: the mode ends with the object.
  TorchPeer torch(python, fmt::format("mode = torch.inference_mode()\n"
                                      "mode.__enter__()\n"
                                      "{}\n"
                                      "step = functools.partial({})\n",
                                      theirs.operands, theirs.call));
  figures.add(figure,
              best_in_turns(
                  on_wall(theirs.times, ours), [&] { return torch.step_us(theirs.times); }, 40),
              Goal::kAtMost, goal);
}

}  // namespace ebb::bench
