// A training step of 784-128-64-10 with Adam, batch 32, in C++: by the tape, and recorded.
//
// Peers in the same run: the bare arithmetic (the eight products and one AdamUpdate, as operations on
// tensors that are there), and PyTorch's eager step of the same network on two threads, in a process
// of its own that takes turns with this one: EBB_TORCH_PYTHON names a Python that has PyPI's torch.
// Without it that row is left out.
#include <algorithm>
#include <memory>

#include "ebb/ebb.hpp"
#include "support/figures.hpp"
#include "support/torch_peer.hpp"

namespace ebb::bench {
namespace {

constexpr std::int64_t kBatch = 32;
constexpr long kSteps = 40;  // a turn

constexpr const char* kTorchStep = R"(
from torch import nn
net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
adam = torch.optim.Adam(net.parameters())
x, y = torch.rand(32, 784), torch.randint(10, (32,))
def step():
    adam.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    adam.step()
)";

struct Net final : nn::Layer {
  nn::Dense first{784, 128, {.activation = ops::Activation::kRelu}};
  nn::Dense second{128, 64, {.activation = ops::Activation::kRelu}};
  nn::Dense third{64, 10};

  Tensor operator()(const Tensor& x) override { return third(second(first(x))); }
  void parts(nn::Parts& parts) override {
    parts.layer("first", first);
    parts.layer("second", second);
    parts.layer("third", third);
  }
};

class Training {
 public:
  explicit Training(bool recorded)
      : step_(net_, adam_,
              [this](const Tensor& x, const Tensor& y) {
                return nn::softmax_cross_entropy(net_(x), y);
              },
              {.record = recorded}) {
    net_.train();
  }
  Measure measure(const Tensor& x, const Tensor& y) {
    return on_wall(kSteps, [this, x, y] { static_cast<void>(step_(x, y)); });
  }

 private:
  Net net_;
  nn::Adam adam_{net_.weights()};
  nn::TrainingStep step_;
};

// What a step multiplies and updates, whatever is around it.
class Arithmetic {
 public:
  explicit Arithmetic(Tensor x) : x_(std::move(x)) {
    for (Variable* each : net_.weights()) {
      const Tensor zeros = ops::zeros_like(each->value());
      for (const Tensor& part : {each->value(), zeros, zeros, each->value()})
        state_.push_back(part);
    }
  }
  void run() const {
    const Tensor& w1 = net_.first.kernel.value();
    const Tensor& w2 = net_.second.kernel.value();
    const Tensor& w3 = net_.third.kernel.value();
    const Tensor h1 =
        ops::fused_mat_mul(x_, w1, {.bias = net_.first.bias.value(), .activation = kRelu});
    const Tensor h2 =
        ops::fused_mat_mul(h1, w2, {.bias = net_.second.bias.value(), .activation = kRelu});
    const Tensor y = ops::fused_mat_mul(h2, w3, {.bias = net_.third.bias.value()});
    static_cast<void>(ops::batch_mat_mul(h2, y, {.transpose_a = true}));
    const Tensor d2 = ops::batch_mat_mul(y, w3, {.transpose_b = true});
    static_cast<void>(ops::batch_mat_mul(h1, d2, {.transpose_a = true}));
    const Tensor d1 = ops::batch_mat_mul(d2, w2, {.transpose_b = true});
    static_cast<void>(ops::batch_mat_mul(x_, d1, {.transpose_a = true}));
    static_cast<void>(ops::adam_update(power_, power_, state_));
  }

 private:
  static constexpr auto kRelu = ops::Activation::kRelu;

  Tensor x_;
  Net net_;
  Tensor power_ = ops::fill({}, 0.9, DType::kFloat32);
  std::vector<Tensor> state_;
};

// Forward alone, with and without a tape that watches something else.
void tape_without_use(const Tensor& x, Figures& figures) {
  Net net;
  const Tensor other = nn::ones({1});
  const Measure plain = on_wall(kSteps, [&] { static_cast<void>(net(x)); });
  const Measure watched = on_wall(kSteps, [&] {
    Tape tape;
    tape.watch(other);
    static_cast<void>(net(x));
  });
  figures.add("MLP forward, b32, a tape open that is not asked, to none (us)",
              measure_in_turns(watched, plain), Goal::kAtMost, 1.05);
}

int run() {
  Session session;
  Figures figures("training");
  const Tensor x = ops::random_uniform({kBatch, 784});
  const Tensor y = ops::cast(ops::random_uniform({kBatch}, {.high = 10}), DType::kInt32);
  Training eager(false), recorded(true);
  const Arithmetic arithmetic(x);
  const Measure by_tape = eager.measure(x, y), replayed = recorded.measure(x, y);
  const Measure bare = on_wall(kSteps, [&] { arithmetic.run(); });
  figures.add("MLP step, Adam, b32, by the tape, to its bare arithmetic (us)",
              measure_in_turns(by_tape, bare), Goal::kAtMost, 1.5);
  figures.add("the same recorded, to its bare arithmetic (us)", measure_in_turns(replayed, bare),
              Goal::kAtMost, 1.3);
  tape_without_use(x, figures);
  if (const char* python = python_with_torch()) {
    TorchPeer torch(python, kTorchStep);
    const Measure theirs = [&] { return torch.step_us(kSteps); };
    const Pair least = measure_in_turns(bare, theirs);
    // A quarter of PyTorch's, or half as much again as the arithmetic alone where that is more.
    const double goal = std::max(0.25, 1.5 * least.ratio);
    figures.add("the bare arithmetic, to PyTorch's eager step (us)", least, Goal::kAtMost, 1);
    figures.add("MLP step, Adam, b32, by the tape, to PyTorch's eager (us)",
                measure_in_turns(by_tape, theirs), Goal::kAtMost, goal);
    figures.add("the same recorded, to PyTorch's eager (us)", measure_in_turns(replayed, theirs),
                Goal::kAtMost, goal);
  }
  return figures.write();
}

}  // namespace
}  // namespace ebb::bench

int main() { return ebb::bench::run() >= 0 ? 0 : 1; }
