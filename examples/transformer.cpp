// Trains a small transformer to write like a text, character by character; kUsage says how it is called.
//
// Prints how well it predicts the next character of parts that it has not seen, what it writes
// itself, and the memory in use, which must not grow.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "arguments.hpp"
#include "ebb/ebb.hpp"

namespace {

namespace nn = ebb::nn;
namespace ops = ebb::ops;
using ebb::Tensor;

constexpr std::string_view kUsage = R"text(
transformer TEXT [STEPS [MODEL.safetensors]]

TEXT is a file of a thousand characters or more, docs/jvm.md for example; the longer the better. 600 STEPS
if it is not told how many, fewer for a look. MODEL.safetensors gets what was learned, for others to load
(docs/nn.md).
)text";

constexpr std::int64_t kLength = 64, kWidth = 64, kHeads = 4, kBlocks = 2, kBatch = 16;
constexpr double kRate = 0.002;
// Of a text, of which a tenth is held back.
constexpr std::size_t kLeast = 1000;

// Attention, then a network for each position by itself; both are added to what came in.
struct Block final : nn::Layer {
  nn::LayerNorm norm1{kWidth}, norm2{kWidth};
  nn::Attention attention{kWidth, kHeads, {.causal = true}};
  nn::Dense wide{kWidth, 4 * kWidth, {.activation = ops::Activation::kRelu}};
  nn::Dense narrow{4 * kWidth, kWidth};

  Tensor operator()(const Tensor& x) override {
    const Tensor seen = x + attention(norm1(x));
    return seen + narrow(wide(norm2(seen)));
  }
  void parts(nn::Parts& parts) override {
    parts.layer("norm1", norm1);
    parts.layer("attention", attention);
    parts.layer("norm2", norm2);
    parts.layer("wide", wide);
    parts.layer("narrow", narrow);
  }
};

// From characters [batch, time] to what comes after each of them: [batch, time, characters].
struct Transformer final : nn::Layer {
  nn::Embedding characters, positions{kLength, kWidth};
  nn::Sequential blocks;
  nn::LayerNorm norm{kWidth};
  nn::Dense out;

  explicit Transformer(std::int64_t kinds) : characters(kinds, kWidth), out(kWidth, kinds) {
    for (int i = 0; i < kBlocks; ++i) blocks.add<Block>(fmt::format("{}", i));
  }
  Tensor operator()(const Tensor& text) override {
    const double length = static_cast<double>(text.shape().dims()[1]);
    const Tensor places = ops::range(0, length, {.dtype = ebb::DType::kInt32});
    return out(norm(blocks(characters(text) + positions(places))));
  }
  void parts(nn::Parts& parts) override {
    parts.layer("characters", characters);
    parts.layer("positions", positions);
    parts.layer("blocks", blocks);
    parts.layer("norm", norm);
    parts.layer("out", out);
  }
};

// A text as numbers of the characters that are in it, ASCII's alone.
struct Text {
  std::string alphabet;
  std::vector<std::int32_t> ids;

  explicit Text(std::string content) {
    std::erase_if(content, [](char each) { return static_cast<unsigned char>(each) > 127; });
    const std::set<char> kinds(content.begin(), content.end());
    alphabet.assign(kinds.begin(), kinds.end());
    for (const char each : content) {
      ids.push_back(static_cast<std::int32_t>(alphabet.find(each)));
    }
  }
};

std::string contents_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file || text.empty()) {
    throw std::runtime_error(fmt::format("{} cannot be read, or is empty; a text is needed", path));
  }
  return text;
}

// Windows of the text: what is read, and what comes next.
nn::Batch windows_of(std::span<const std::int32_t> ids, std::size_t apart, std::size_t most) {
  std::vector<std::int32_t> read, next;
  std::int64_t count = 0;
  for (std::size_t at = 0; at + kLength < ids.size() && count < std::int64_t(most); at += apart) {
    const auto window = ids.subspan(at, kLength + 1);
    read.insert(read.end(), window.begin(), window.end() - 1);
    next.insert(next.end(), window.begin() + 1, window.end());
    ++count;
  }
  return {ebb::tensor(read, {count, kLength}), ebb::tensor(next, {count, kLength})};
}

nn::Batch next_of(nn::Batches& batches) {
  auto batch = batches.next();
  if (!batch) batch = batches.next();  // the epoch was over
  return std::move(batch.value());
}

double loss_on(Transformer& net, const nn::Batch& held) {
  return nn::softmax_cross_entropy(net(held.x), held.y).item<float>();
}

// The likeliest character, again and again.
std::string written(Transformer& net, const Text& text, std::size_t count) {
  std::vector<std::int32_t> ids(text.ids.begin(), text.ids.begin() + kLength);
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<std::int32_t> seen(ids.end() - kLength, ids.end());
    const Tensor logits = net(ebb::tensor(seen, {1, kLength}));
    ids.push_back(ops::arg_max(logits, {.axis = -1}).to_vector<std::int32_t>().back());
    out += text.alphabet[static_cast<std::size_t>(ids.back())];
  }
  return out;
}

std::string memory_text() {
  ebb::Session& session = ebb::Session::current();
  return fmt::format("{} in use, {} at most", ebb::format_bytes(session.device().in_use()),
                     ebb::format_bytes(session.context().memory().books.peak_bytes));
}

bool run(Arguments arguments) {
  if (arguments.empty()) throw std::runtime_error("no TEXT was given, a file is needed");
  const int steps = arguments.size() > 1 ? count_of(arguments[1], "STEPS") : 600;
  ebb::Session session;
  nn::set_seed(1);
  const Text text(contents_of(arguments[0]));
  const std::size_t seen = text.ids.size() * 9 / 10;
  const std::span<const std::int32_t> ids(text.ids);
  if (ids.size() < kLeast) {
    throw std::runtime_error(fmt::format("{} has {} characters of ASCII, {} are needed",
                                         arguments[0], ids.size(), kLeast));
  }
  const nn::Batch examples = windows_of(ids.first(seen), 7, ids.size());
  const nn::Batch held = windows_of(ids.subspan(seen), kLength, 64);
  nn::Batches batches(examples.x, examples.y, {.size = kBatch, .drop_last = true});

  Transformer net(static_cast<std::int64_t>(text.alphabet.size()));
  net.train();
  nn::Adam adam(net.weights(), {.learning_rate = kRate});
  nn::TrainingStep step(net, adam, [&](const Tensor& x, const Tensor& y) {
    return nn::softmax_cross_entropy(net(x), y);
  });

  const double first = loss_on(net, held);
  std::uint64_t in_use = 0;
  bool flat = true;
  for (int i = 1; i <= steps; ++i) {
    const nn::Batch batch = next_of(batches);
    const float loss = step(batch.x, batch.y).item<float>();
    if (i == 2) in_use = session.device().in_use();
    if (i > 2) flat = flat && session.device().in_use() <= in_use;
    if (i % 100 == 0 || i == steps) {
      std::printf("step %d: loss %.3f, on what it has not seen %.3f, %s\n", i, loss,
                  loss_on(net, held), memory_text().c_str());
      std::fflush(stdout);
    }
  }
  const double last = loss_on(net, held);
  std::printf("it writes: %s\n", written(net, text, 120).c_str());
  if (arguments.size() > 2) {
    nn::save(arguments[2], net, {{"alphabet", text.alphabet}, {"loss", fmt::format("{}", last)}});
  }
  // Guessing among all characters has a loss of log(kinds).
  const bool learned = steps < 50 ? last < first : last < 0.7 * std::log(text.alphabet.size());
  if (!flat) std::printf("FAULT memory grew from step to step\n");
  if (!learned) std::printf("FAULT a loss of %.3f is not enough\n", last);
  return flat && learned;
}

}  // namespace

int main(int count, char** arguments) {
  return run_example(count, arguments, "transformer", kUsage, 3, run);
}
