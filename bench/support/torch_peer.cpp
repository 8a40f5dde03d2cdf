#include "support/torch_peer.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace ebb::bench {
namespace {

// One line in: how many steps. One line out: microseconds of each.
constexpr const char* kProgram = R"(
import sys, time, torch
torch.set_num_threads(2)
from torch import nn
net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
adam = torch.optim.Adam(net.parameters())
x, y = torch.rand(32, 784), torch.randint(10, (32,))
def step():
    adam.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    adam.step()
for _ in range(20): step()
print('ready', flush=True)
for line in sys.stdin:
    count, start = int(line), time.perf_counter()
    for _ in range(count): step()
    print((time.perf_counter() - start) / count * 1e6, flush=True)
)";

}  // namespace

TorchPeer::TorchPeer(const std::string& python) {
  std::array<int, 2> to{}, from{};
  if (::pipe(to.data()) != 0 || ::pipe(from.data()) != 0) throw std::runtime_error("no pipe");
  child_ = ::fork();
  if (child_ == 0) {
    ::dup2(to[0], 0);
    ::dup2(from[1], 1);
    for (const int each : {to[0], to[1], from[0], from[1]}) ::close(each);
    ::execl(python.c_str(), python.c_str(), "-c", kProgram, nullptr);
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  to_ = ::fdopen(to[1], "w");
  from_ = ::fdopen(from[0], "r");
  std::array<char, 16> said{};
  if (std::fscanf(from_, "%15s", said.data()) != 1 || std::string(said.data()) != "ready") {
    throw std::runtime_error(python + " cannot import torch");
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

}  // namespace ebb::bench
