// A training step of 784-128-64-10 with Adam, batch 32, in C++: by the tape, and recorded.
//
// Peers in the same run: the bare arithmetic (the eight products by oneDNN's primitives alone and one
// AdamUpdate, all on memory that is there), and PyTorch's eager step of the same network on two threads,
// in a process of its own that takes turns with this one: EBB_TORCH_PYTHON names a Python that has
// PyPI's torch. Without it those rows are left out. Where two threads work, the best of each counts:
// what else the machine does costs threads that wait for each other many times their work.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "ebb/ebb.hpp"
#include "ops/update.hpp"
#include "support/bare_product.hpp"
#include "support/figures.hpp"
#include "support/torch_peer.hpp"

namespace ebb::bench {
namespace {

constexpr std::int64_t kBatch = 32;
constexpr long kSteps = 20;  // a turn
constexpr int kTurns = 60;

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

// What a step multiplies, by oneDNN alone, which has bias and relu as well. On the calling thread: for
// two threads that wait for each other, the eight together take longer.
class Products {
 public:
  Products() {
    layer(784, 128, true, true);
    layer(128, 64, true, false);
    layer(64, 10, false, false);
  }
  void run() {
    for (BareProduct& each : products_) each.run();
  }

 private:
  // Its output, its weights' gradient and, but for the first one, its input's.
  void layer(std::int64_t in, std::int64_t out, bool relu, bool first) {
    products_.emplace_back(ProductSpec{
        .rows = kBatch, .inner = in, .columns = out, .bias = true, .relu = relu, .alone = true});
    products_.emplace_back(ProductSpec{
        .rows = in, .inner = kBatch, .columns = out, .transpose_a = true, .alone = true});
    if (first) return;
    products_.emplace_back(ProductSpec{
        .rows = kBatch, .inner = out, .columns = in, .transpose_b = true, .alone = true});
  }

  std::vector<BareProduct> products_;
};

// One AdamUpdate of the net's weights, each result over the memory of what it takes the place of.
class Update {
 public:
  Update() {
    add(ops::fill({}, 0.9, DType::kFloat32), false);
    add(ops::fill({}, 0.999, DType::kFloat32), false);
    Net net;
    for (Variable* each : net.weights()) {
      const Tensor& value = each->value();
      for (const Tensor& part : {value, ops::zeros_like(value), ops::zeros_like(value)})
        add(part, true);
      add(ops::ones_like(value), false);
    }
    std::vector<ops::OpResult> results(inputs_.size());
    update_.emplace(Session::current().place(), ops::op_id("AdamUpdate"), inputs_, kNumbers, over_,
                    results);
  }
  void run() { update_->run(); }

 private:
  static constexpr std::array<double, 4> kNumbers{0.9, 0.999, 0.001, 1e-7};

  void add(const Tensor& tensor, bool over) {
    state_.push_back(tensor);
    inputs_.push_back(state_.back().handle());
    over_.push_back(over ? 1 : 0);
  }

  std::vector<Tensor> state_;
  std::vector<Handle> inputs_;
  std::vector<char> over_;  // by input
  std::optional<ops::UpdateInPlace> update_;
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
  Products products;
  Update update;
  const Measure by_tape = eager.measure(x, y), replayed = recorded.measure(x, y);
  const Measure bare = on_wall(kSteps, [&] {
    products.run();
    update.run();
  });
  figures.add("MLP step, Adam, b32, by the tape, to its bare arithmetic (us)",
              best_in_turns(by_tape, bare, kTurns), Goal::kAtMost, 1.5);
  figures.add("the same recorded, to its bare arithmetic (us)",
              best_in_turns(replayed, bare, kTurns), Goal::kAtMost, 1.3);
  tape_without_use(x, figures);
  if (const char* python = python_with_torch()) {
    TorchPeer torch(python, kTorchStep);
    const Measure theirs = [&] { return torch.step_us(kSteps); };
    const Pair least = best_in_turns(bare, theirs, kTurns);
    // A quarter of PyTorch's, or half as much again as the arithmetic alone where that is more.
    const double goal = std::max(0.25, 1.5 * least.ratio);
    figures.add("the bare arithmetic, to PyTorch's eager step (us)", least, Goal::kAtMost, 1);
    figures.add("MLP step, Adam, b32, by the tape, to PyTorch's eager (us)",
                best_in_turns(by_tape, theirs, kTurns), Goal::kAtMost, goal);
    figures.add("the same recorded, to PyTorch's eager (us)",
                best_in_turns(replayed, theirs, kTurns), Goal::kAtMost, goal);
  }
  return figures.write();
}

}  // namespace
}  // namespace ebb::bench

int main() { return ebb::bench::run() >= 0 ? 0 : 1; }
