// Ebb's side of the figures on a GPU; bench/cuda/peer.py is the other, bench/cuda/run.sh runs both.
//
//   cuda_bench [device [small] [PART...]]     device: "cuda:0"; small: tiny sizes, to see that it
//   runs ("cpu" does); PART: elementwise, softmax, products, training, pool (all, if none is named)
//
// Prints one JSON object: figure -> value, in the units of bench/cuda/table.py.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "cuda/bare_launch.hpp"
#include "cuda/training.hpp"

namespace ebb::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Sizes {
  std::int64_t many = std::int64_t{1} << 26;  // elements
  std::int64_t softmax = 8192;
  std::int64_t matmul = 4096;
  std::int64_t large_batch = 1024;
  int live = 10000;
  int rounds = 7;
  int scale = 1;  // repetitions are divided by it
};

constexpr Sizes kSmall{.many = 1 << 12,
                       .softmax = 64,
                       .matmul = 64,
                       .large_batch = 64,
                       .live = 500,
                       .rounds = 2,
                       .scale = 50};

void wait_for(Device& device) {
  device.heap()->wait({kDefaultStream, device.heap()->submitted(kDefaultStream)});
}

class Bench {
 public:
  Bench(Session& session, const Sizes& sizes) : session_(session), sizes_(sizes) {}

  // The median over rounds of the microseconds that one of `times` repetitions takes, queued one
  // after the other and waited for at the end.
  double microseconds(int times, const std::function<void()>& work) {
    times = std::max(1, times / sizes_.scale);
    std::vector<double> rounds;
    for (int round = -1; round < sizes_.rounds; ++round) {  // the first one warms up
      const auto begin = Clock::now();
      for (int i = 0; i < times; ++i) work();
      wait_for(session_.device());
      const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
      if (round >= 0) rounds.push_back(took.count() / times);
    }
    std::nth_element(rounds.begin(), rounds.begin() + std::ssize(rounds) / 2, rounds.end());
    return rounds[rounds.size() / 2];
  }

  void set(const std::string& figure, double value) { figures_[figure] = value; }
  Session& session() { return session_; }
  const Sizes& sizes() const { return sizes_; }

  void print() const {
    std::printf("{");
    for (auto at = figures_.begin(); at != figures_.end(); ++at) {
      std::printf("%s\"%s\": %.6g", at == figures_.begin() ? "" : ", ", at->first.c_str(),
                  at->second);
    }
    std::printf("}\n");
  }

 private:
  Session& session_;
  Sizes sizes_;
  std::map<std::string, double> figures_;
};

void pool(Bench& bench) {
  Pool& pool = bench.session().device().pool();
  constexpr std::size_t kBytes = 4096;
  bench.set("pool_pair", bench.microseconds(200000, [&] { pool.free(pool.allocate(kBytes)); }));

  std::mt19937 random(1);
  std::vector<Block> live(static_cast<std::size_t>(bench.sizes().live));
  for (Block& block : live) block = pool.allocate(256 + random() % 65536);
  // One operation is a free or an allocation, of blocks in random order.
  std::vector<std::uint32_t> order(1 << 16);
  for (std::uint32_t& place : order) place = random() % static_cast<std::uint32_t>(live.size());
  std::vector<std::size_t> bytes(order.size());
  for (std::size_t& size : bytes) size = 256 + random() % 65536;
  std::size_t i = 0;
  const double pair = bench.microseconds(200000, [&] {
    Block& block = live[order[i % order.size()]];
    pool.free(block);
    block = pool.allocate(bytes[i % bytes.size()]);
    ++i;
  });
  bench.set("pool_live", pair / 2);
  for (const Block block : live) pool.free(block);
}

Tensor random(const std::vector<std::int64_t>& dims) {
  return ops::random_uniform(dims, {.low = -1, .seed = 1});
}

void elementwise(Bench& bench) {
  if (const std::optional<double> bare = bare_launch_us(1000)) bench.set("bare_launch", *bare);
  {
    const Tensor a = random({8});
    bench.set("add_8", bench.microseconds(1000, [&] { (void)ops::add(a, a); }));
  }
  const std::int64_t many = bench.sizes().many;
  const Tensor a = random({many});
  const Tensor b = random({many});
  const Tensor two = ops::fill({}, 2, DType::kFloat32);
  const Tensor one = ops::fill({}, 1, DType::kFloat32);
  const double add = bench.microseconds(50, [&] { (void)ops::add(a, b); });
  bench.set("add_64m", 3 * 4 * static_cast<double>(many) / add / 1e6);
  bench.set("relu_64m", bench.microseconds(50, [&] { (void)ops::relu(a * two + one); }));
  bench.set("sum_64m", bench.microseconds(100, [&] { (void)ops::sum(a, {0}); }));
}

void softmax(Bench& bench) {
  const Tensor x = random({bench.sizes().softmax, bench.sizes().softmax});
  bench.set("softmax", bench.microseconds(100, [&] { (void)ops::softmax(x); }));
}

void products(Bench& bench) {
  const std::int64_t n = bench.sizes().matmul;
  const double work =
      2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  const auto rate = [&](const Tensor& a, const Tensor& b) {
    const double took = bench.microseconds(50, [&] { (void)ops::batch_mat_mul(a, b); });
    return work / took / 1e6;
  };
  const Tensor a = random({n, n});
  const Tensor b = random({n, n});
  bench.set("matmul_f32", rate(a, b));
  bench.set("matmul_bf16", rate(ops::cast(a, DType::kBfloat16), ops::cast(b, DType::kBfloat16)));
}

// The same, backwards by hand as it is, by ebb::record: what the function did, as a graph where the device has them.
template <typename Net>
void train_recorded(Bench& bench, const std::string& name, const TrainingBatch& batch) {
  Variable parameters(Net::initial(7));
  auto step = record(
      [&] {
        StepResult result = Net::step(parameters, batch);
        parameters.assign(std::move(result.parameters));
        return std::move(result.loss);
      },
      {&parameters});
  const float first = step().template item<float>();
  bench.set(name + "_recorded", bench.microseconds(200, [&] { (void)step(); }));
  const float last = step().template item<float>();
  if (!(last < first)) {
    raise(ErrorKind::kInternal, "[{}] recorded, the loss went from {} to {}", name, first, last);
  }
}

// 784-128-64-10 with gradients from the tape, recorded.
void train_taped(Bench& bench) {
  const TrainingBatch batch = make_batch(32, {784}, 1, 3);
  std::vector<Variable> weights;
  for (const auto& [in, out] : {std::pair{784, 128}, {128, 64}, {64, 10}}) {
    weights.emplace_back(random({in, out}) * (1.0 / in));
    weights.emplace_back(ops::fill({out}, 0, DType::kFloat32));
  }
  std::vector<Variable*> all;
  for (Variable& each : weights) all.push_back(&each);
  const auto loss = [&](const Tensor& x) {
    Tensor h = x;
    for (std::size_t i = 0; i < weights.size(); i += 2) {
      const auto activation =
          i + 2 < weights.size() ? ops::Activation::kRelu : ops::Activation::kLinear;
      h = ops::fused_mat_mul(h, weights[i],
                             {.bias = weights[i + 1].value(), .activation = activation});
    }
    return ops::sum(ops::log_softmax(h) * batch.loss_labels, {0, 1});
  };
  auto step = record(
      [&](const Tensor& x) {
        auto [value, slopes] = value_and_grad(loss, all)(x);
        for (std::size_t i = 0; i < all.size(); ++i) all[i]->assign(*all[i] - slopes[i] * 0.01);
        return value;
      },
      all);
  const float first = step(batch.images).item<float>();
  bench.set("mlp_32_taped", bench.microseconds(200, [&] { (void)step(batch.images); }));
  const float last = step(batch.images).item<float>();
  if (!(last < first))
    raise(ErrorKind::kInternal, "[taped] the loss went from {} to {}", first, last);
}

template <typename Net>
void train(Bench& bench, const std::string& name, const std::vector<std::int64_t>& image,
           std::int64_t size) {
  const TrainingBatch batch = make_batch(size, image, 0.01, 3);
  Tensor parameters = Net::initial(7);
  Tensor loss = Net::step(parameters, batch).loss;
  const float first = loss.item<float>();
  bench.set(name, bench.microseconds(200, [&] {
    StepResult result = Net::step(parameters, batch);
    parameters = std::move(result.parameters);
    loss = std::move(result.loss);
  }));
  const float last = loss.item<float>();
  if (!(last < first)) {
    raise(ErrorKind::kInternal, "[{}] the loss went from {} to {}, less was to be", name, first,
          last);
  }
  train_recorded<Net>(bench, name, batch);
  if (bench.session().device().heap()->link() == nullptr) return;  // nothing to replay on the host
  Capture capture;
  StepResult recorded = Net::step(parameters, batch);
  Replay replay = capture.end();
  bench.set(name + "_replayed", bench.microseconds(200, [&] {
    replay.run();
    replay.set(parameters, recorded.parameters);
  }));
}

void training(Bench& bench) {
  const std::int64_t large = bench.sizes().large_batch;
  train_taped(bench);
  train<DenseNet>(bench, "mlp_32", {784}, 32);
  train<DenseNet>(bench, "mlp_1024", {784}, large);
  train<ConvNet>(bench, "conv_32", {28, 28, 1}, 32);
  train<ConvNet>(bench, "conv_1024", {28, 28, 1}, large);
}

// Committed memory at its peak, against what was asked for at its peak.
void peak(Bench& bench) {
  Device& device = bench.session().device();
  const std::uint64_t asked = bench.session().context().memory(&device).books.peak_bytes;
  bench.set("peak_committed", static_cast<double>(device.peak_committed()) / 1048576);
  bench.set("peak_requested", static_cast<double>(asked) / 1048576);
}

int main_of_cuda(int count, char** values) {
  const std::vector<std::string> given(values + 1, values + count);
  std::vector<std::string> named(given.begin() + std::min<std::ptrdiff_t>(1, std::ssize(given)),
                                 given.end());
  const bool small = std::erase(named, "small") != 0;
  const auto wanted = [&](std::string_view part) {
    return named.empty() || std::ranges::find(named, part) != named.end();
  };
  Session session({.device = given.empty() ? "cuda:0" : given.front()});
  Bench bench(session, small ? kSmall : Sizes());
  if (wanted("elementwise")) elementwise(bench);
  if (wanted("softmax")) softmax(bench);
  if (wanted("products")) products(bench);
  if (wanted("training")) training(bench);
  if (named.empty()) peak(bench);
  if (wanted("pool")) pool(bench);  // its blocks are in no books, so it comes after the peak
  bench.print();
  return 0;
}

}  // namespace
}  // namespace ebb::bench

int main(int count, char** values) {
  try {
    return ebb::bench::main_of_cuda(count, values);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_bench: %s\n", error.what());
    return 1;
  }
}
