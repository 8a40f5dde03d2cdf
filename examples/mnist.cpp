// Trains a conv net on handwritten digits, in C++ alone; kUsage says how it is called.
//
// The model is saved for others to load (docs/nn.md). The run fails where memory grows from one step
// to the next, or where the net learns less than it should.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "arguments.hpp"
#include "ebb/ebb.hpp"

namespace {

namespace nn = ebb::nn;
namespace ops = ebb::ops;
using ebb::Tensor;

constexpr std::string_view kUsage = R"text(
mnist                                      a short run on patterns that it draws itself
mnist FOLDER [EPOCHS [MODEL.safetensors]]  trains on MNIST, in 3 epochs if it is not told how many

FOLDER has MNIST's four IDX files: mnist "$(tools/mnist_data.sh)" fetches them, and takes them from where
they are then. MODEL.safetensors gets what was learned, for others to load (docs/nn.md).
)text";

constexpr std::int64_t kBatch = 64;
constexpr double kRate = 0.002;
constexpr double kWanted = 0.985;
constexpr auto kRelu = ops::Activation::kRelu;

struct Net final : nn::Layer {
  nn::Conv2D conv1{1, 16, {.size = {5, 5}, .activation = kRelu, .initial = nn::he_normal}};
  nn::Conv2D conv2{16, 32, {.size = {5, 5}, .activation = kRelu, .initial = nn::he_normal}};
  nn::MaxPool2D pool;
  nn::Flatten flatten;
  nn::Dropout dropout{0.3};
  nn::Dense out{512, 10};

  Tensor operator()(const Tensor& images) override {
    const Tensor maps = pool(conv2(pool(conv1(images))));
    return out(dropout(flatten(maps)));
  }
  void parts(nn::Parts& parts) override {
    parts.layer("conv1", conv1);
    parts.layer("conv2", conv2);
    parts.layer("dropout", dropout);
    parts.layer("out", out);
  }
};

struct Examples {
  Tensor images;  // uint8 [count, 28, 28]
  Tensor labels;
};

Examples from_files(const std::filesystem::path& folder, const std::string& part) {
  for (const char* const kind : {"-images-idx3-ubyte", "-labels-idx1-ubyte"}) {
    if (std::filesystem::exists(folder / (part + kind))) continue;
    throw std::runtime_error(fmt::format(
        "{} has no {}{}, tools/mnist_data.sh fetches MNIST's files and prints where they are",
        folder.string(), part, kind));
  }
  return {nn::load_array(folder / (part + "-images-idx3-ubyte")),
          nn::load_array(folder / (part + "-labels-idx1-ubyte"))};
}

// Ten patterns of stripes, each moved and spotted at random.
Examples drawn(std::int64_t count, double seed) {
  const Tensor labels =
      ops::cast(ops::random_uniform({count}, {.high = 10, .seed = seed}), ebb::DType::kInt32);
  const Tensor numbers = ops::reshape(ops::cast(labels, ebb::DType::kFloat32), {count, 1, 1});
  const Tensor rows = ops::reshape(ops::range(0, 28), {1, 28, 1});
  const Tensor columns = ops::reshape(ops::range(0, 28), {1, 1, 28});
  const Tensor moved = ops::random_uniform({count, 1, 1}, {.high = 3, .seed = seed + 1});
  const Tensor stripes =
      ops::sin(rows * (numbers * 0.1 + 0.2) + columns * (1.1 - numbers * 0.1) + moved);
  const Tensor spots = ops::random_uniform({count, 28, 28}, {.high = 1.5, .seed = seed + 2});
  return {ops::cast(ops::relu(stripes * spots) * 170, ebb::DType::kUint8), labels};
}

Tensor as_input(const Tensor& images) {
  return ops::expand_dims(ops::cast(images, ebb::DType::kFloat32) / 255, {.dim = 3});
}

double accuracy_of(Net& net, const Examples& held) {
  net.train(false);
  nn::Batches batches(held.images, held.labels, {.size = 500, .shuffle = false});
  double right = 0;
  while (const auto batch = batches.next()) {
    const double share = nn::accuracy(net(as_input(batch->x)), batch->y).item<float>();
    right += share * static_cast<double>(batch->y.shape().dims()[0]);
  }
  net.train();
  return right / static_cast<double>(batches.examples());
}

// The rate falls in a few steps: each is recorded once.
double rate_at(int epoch, int epochs) { return kRate * (epochs - epoch) / epochs; }

class Memory {
 public:
  // False where more is in use than after the first step.
  bool flat() {
    const std::uint64_t now = ebb::Session::current().device().in_use();
    if (first_ == 0) first_ = now;
    return now <= first_;
  }
  static std::string text() {
    ebb::Session& session = ebb::Session::current();
    return fmt::format("{} in use, {} at most", ebb::format_bytes(session.device().in_use()),
                       ebb::format_bytes(session.context().memory().books.peak_bytes));
  }

 private:
  std::uint64_t first_ = 0;
};

// False where memory grew.
bool train(Net& net, const Examples& examples, const Examples& held, int epochs) {
  nn::Adam adam(net.weights(), {.learning_rate = kRate});
  nn::TrainingStep step(net, adam, [&](const Tensor& images, const Tensor& labels) {
    return nn::softmax_cross_entropy(net(as_input(images)), labels);
  });
  nn::Batches batches(examples.images, examples.labels, {.size = kBatch, .drop_last = true});
  Memory memory;
  bool flat = true;
  net.train();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    adam.set_learning_rate(rate_at(epoch, epochs));
    double loss = 0;
    for (std::int64_t i = 0; const auto batch = batches.next(); ++i) {
      loss += step(batch->x, batch->y).item<float>();
      if (i > 0 || epoch > 0) flat = memory.flat() && flat;
    }
    std::printf("epoch %d: loss %.4f, %.2f%% right, %s\n", epoch + 1,
                loss / static_cast<double>(batches.per_epoch()), 100 * accuracy_of(net, held),
                Memory::text().c_str());
    std::fflush(stdout);
  }
  return flat;
}

bool run(Arguments arguments) {
  const bool files = !arguments.empty();
  const int epochs = arguments.size() > 1 ? count_of(arguments[1], "EPOCHS") : (files ? 3 : 6);
  ebb::Session session;
  nn::set_seed(1);
  const Examples examples = files ? from_files(arguments[0], "train") : drawn(1024, 3);
  const Examples held = files ? from_files(arguments[0], "t10k") : drawn(500, 8);
  Net net;
  const bool flat = train(net, examples, held, epochs);
  net.train(false);
  const double reached = accuracy_of(net, held);
  if (arguments.size() > 2) nn::save(arguments[2], net, {{"model", "examples/mnist.cpp"}});
  if (!flat) std::printf("FAULT memory grew from step to step\n");
  if (reached < kWanted) std::printf("FAULT %.1f%% are wanted\n", 100 * kWanted);
  return flat && reached >= kWanted;
}

}  // namespace

int main(int count, char** arguments) {
  return run_example(count, arguments, "mnist", kUsage, 3, run);
}
