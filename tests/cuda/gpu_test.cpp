// What only a GPU can tell. Skipped unless EBB_TEST_DEVICE names one.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>

#include "backends/cuda/cuda_heap.hpp"
#include "ebb/ebb.hpp"
#include "ebb/ops/functions.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

using Floats = std::vector<float>;
constexpr std::uint64_t kMegabyte = 1 << 20;

class Gpu : public testing::Test {
 protected:
  Gpu() : name_(from_environment("EBB_TEST_DEVICE", "")) {}
  void SetUp() override {
    if (kind_of_name(name_) != DeviceKind::kCuda) GTEST_SKIP() << "EBB_TEST_DEVICE names no GPU";
  }
  // As the driver sees it, all processes together.
  static std::uint64_t free_bytes(Device& device) {
    const auto& heap = static_cast<const cuda::CudaHeap&>(*device.heap());
    ebb_cuda_device_info info{};
    EXPECT_EQ(heap.table().device_describe(heap.device(), &info), EBB_CUDA_OK);
    return info.free_bytes;
  }

  // The first launch of a kernel loads its code, which takes device memory too.
  static void warm_up() {
    const Tensor small = ops::fill({4}, 1, DType::kFloat32);
    EXPECT_EQ(ops::slice(small, {3}, {1}).item<float>(), 1.0f);
  }

  const std::string name_;
};

TEST_F(Gpu, ComputesAndReads) {
  Session session({.device = name_});
  const Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  EXPECT_EQ(ops::add(x, x).to_vector<float>(), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(ops::batch_mat_mul(x, x).to_vector<float>(), (Floats{7, 10, 15, 22}));
}

TEST_F(Gpu, CopiesOfAllSizesComeBack) {
  Session session({.device = name_});
  for (const std::int64_t count : {1, 3, 1000, 16384, 1 << 20, (4 << 20) + 7, 33 << 20}) {
    Floats values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 8191);
    EXPECT_EQ(tensor(values, {count}).to_vector<float>(), values) << count;
  }
  EXPECT_GT(session.device().link()->staging_bytes(), 0u);
}

TEST_F(Gpu, TrimGivesMemoryBackToTheDriver) {
  Session session({.device = name_});
  warm_up();
  session.device().pool().trim(SIZE_MAX);
  const std::uint64_t before = free_bytes(session.device());
  {
    const Tensor large = ops::fill({64 << 20}, 1, DType::kFloat32);
    EXPECT_EQ(ops::slice(large, {(64 << 20) - 1}, {1}).item<float>(), 1.0f);
    EXPECT_LE(free_bytes(session.device()), before - 256 * kMegabyte);
  }
  session.device().pool().wait_pending();
  session.device().pool().trim(SIZE_MAX);
  EXPECT_GE(free_bytes(session.device()) + 8 * kMegabyte, before);
}

TEST_F(Gpu, AThousandTensorsFitABudget) {
  Session session({.device = name_, .budget = 256 * kMegabyte});
  warm_up();
  const std::uint64_t before = free_bytes(session.device());
  std::uint64_t least = before;
  for (int i = 0; i < 1000; ++i) {
    static_cast<void>(ops::fill({2 << 20}, i, DType::kFloat32));
    if (i % 100 == 0) least = std::min(least, free_bytes(session.device()));
  }
  EXPECT_LE(before - least, 256 * kMegabyte);
  EXPECT_ERROR(ops::fill({128 << 20}, 0, DType::kFloat32), kOutOfMemory, "[Fill]");
}

// Fills, adds and frees in random order on a stream of its own; what is read is right.
void work_on_a_stream(const std::string& device, unsigned seed) {
  Session session({.device = device, .own_stream = true});
  std::mt19937 random(seed);
  std::vector<std::pair<Tensor, float>> live;
  for (int i = 0; i < 500; ++i) {
    const auto count = static_cast<std::int64_t>(1 + random() % 200000);
    const float value = static_cast<float>(random() % 1000);
    const Tensor made = ops::fill({count}, value, DType::kFloat32);
    live.emplace_back(ops::add(made, made), 2 * value);
    if (live.size() < 8) continue;
    const std::size_t at = random() % live.size();
    const auto [tensor, expected] = std::move(live[at]);
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    if (i % 5 == 0) {
      EXPECT_EQ(tensor.to_vector<float>(),
                Floats(static_cast<std::size_t>(tensor.shape().elements()), expected));
    }
  }
}

TEST_F(Gpu, EightStreamsFromEightThreads) {
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed) {
    threads.emplace_back([&, seed] { EXPECT_NO_THROW(work_on_a_stream(name_, seed)); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Gpu, CapturesAndReplays) {
  Session session({.device = name_});
  const Tensor x = tensor({1.0f, 2.0f}, {2});
  std::optional<Replay> step;
  Tensor y;
  {
    Capture capture;
    y = ops::relu(x * 2 + 1);
    step.emplace(capture.end());
  }
  step->run();
  EXPECT_EQ(y.to_vector<float>(), (Floats{3, 5}));
  step->set(x, tensor({-5.0f, 6.0f}, {2}));
  for (int i = 0; i < 100; ++i) step->run();
  EXPECT_EQ(y.to_vector<float>(), (Floats{0, 13}));
  EXPECT_GT(session.context().memory().books.held.count, 0u);
  step.reset();
  EXPECT_EQ(session.context().memory().books.held.count, 0u);
}

// A small net's training, recorded.
struct Training {
  Floats losses;
  std::uint64_t launches = 0;  // of the last step
};

Training train_recorded(bool graphs) {
  Variable w1(ops::random_normal({64, 32}, {.standard_deviation = 0.1, .seed = 1}));
  Variable w2(ops::random_normal({32, 10}, {.standard_deviation = 0.1, .seed = 2}));
  const Tensor y = ops::random_uniform({16, 10}, {.seed = 3});
  const auto loss = [&](const Tensor& x) {
    const Tensor away = ops::batch_mat_mul(ops::relu(ops::batch_mat_mul(x, w1)), w2) - y;
    return ops::sum(away * away, {0, 1});
  };
  const auto train = [&](const Tensor& x) {
    auto [value, slopes] = value_and_grad([&] { return loss(x); }, {&w1, &w2})();
    w1.assign(w1 - slopes[0] * 0.001);
    w2.assign(w2 - slopes[1] * 0.001);
    return value;
  };
  auto step = record(train, {&w1, &w2}, {.graphs = graphs});
  Training made;
  std::vector<Tensor> kept;
  Session& session = Session::current();
  const auto submitted = [&] { return session.device().heap()->submitted(session.place().stream); };
  for (int i = 0; i < 40; ++i) {
    const Tensor x = ops::random_uniform({16, 64}, {.seed = 10.0 + i % 3});
    const std::uint64_t before = submitted();
    Tensor value = step(x);
    made.launches = submitted() - before;
    if (i % 2 == 0) {
      made.losses.push_back(value.item<float>());
    } else {
      kept.push_back(std::move(value));
    }
  }
  for (const Tensor& each : kept) made.losses.push_back(each.item<float>());
  return made;
}

TEST_F(Gpu, GraphsOfAProgramGiveWhatItsStepsGive) {
  Session session({.device = name_});
  const Training steps = train_recorded(false), replayed = train_recorded(true);
  EXPECT_EQ(replayed.losses, steps.losses);
  EXPECT_LT(steps.losses[19], steps.losses[0]);
  EXPECT_GT(steps.launches, 3u);
  EXPECT_LE(replayed.launches, 3u);  // the input's copy, the graph, the loss
}

// Every kind of kernel that takes a view, against the same on a copy.
TEST_F(Gpu, ViewsGiveWhatTheirCopiesGive) {
  Session session({.device = name_});
  const auto storages = [&] { return session.context().memory().books.created_storages.count; };
  for (const std::int64_t wide : {3, 4, 30, 32, 33}) {
    SCOPED_TRACE(wide);
    const Tensor x = ops::reshape(ops::range(0, 64 * 48), {64, 48}) * 0.125f;
    const std::uint64_t before = storages();
    const Tensor view = ops::slice(x, {4, 12}, {56, wide});
    const Tensor heads = ops::transpose(ops::reshape(x, {8, 8, 48}), {1, 0, 2});
    if (wide >= 30) {
      EXPECT_EQ(storages(), before);
    }
    const Tensor copy = tensor(std::span<const float>(view.to_vector<float>()), {56, wide});
    const auto same = [&](const Tensor& a, const Tensor& b) {
      EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
    };
    const auto fresh = [&] { return ops::slice(x, {4, 12}, {56, wide}); };
    same(ops::relu(fresh()), ops::relu(copy));
    same(ops::exp(fresh()), ops::exp(copy));
    same(fresh() + fresh(), copy + copy);
    same(fresh() * 3, copy * 3);
    same(ops::sum(fresh(), {0}), ops::sum(copy, {0}));
    same(ops::sum(fresh(), {1}), ops::sum(copy, {1}));
    same(ops::max(fresh(), {0, 1}), ops::max(copy, {0, 1}));
    same(ops::softmax(fresh()), ops::softmax(copy));
    same(ops::concat({fresh(), copy}, {.axis = 1}), ops::concat({copy, copy}, {.axis = 1}));
    same(ops::tile(fresh(), {2, 1}), ops::tile(copy, {2, 1}));
    same(ops::transpose(fresh(), {1, 0}), ops::transpose(copy, {1, 0}));
    same(ops::pad_v2(fresh(), {1, 1, 2, 0}, {.constant_value = 7}),
         ops::pad_v2(copy, {1, 1, 2, 0}, {.constant_value = 7}));
    same(ops::gather_v2(fresh(), tensor({5, 0, 31}, {3})),
         ops::gather_v2(copy, tensor({5, 0, 31}, {3})));
    same(ops::gather_v2(fresh(), tensor({2, 0}, {2}), {.axis = 1}),
         ops::gather_v2(copy, tensor({2, 0}, {2}), {.axis = 1}));
    same(ops::batch_mat_mul(fresh(), copy, {.transpose_a = true}),
         ops::batch_mat_mul(copy, copy, {.transpose_a = true}));
    same(ops::reshape(fresh(), {-1}), ops::reshape(copy, {-1}));
    EXPECT_EQ(ops::arg_max(fresh(), {.axis = 1}).to_vector<std::int32_t>(),
              ops::arg_max(copy, {.axis = 1}).to_vector<std::int32_t>());
    EXPECT_EQ(ops::cast(fresh(), DType::kInt32).to_vector<std::int32_t>(),
              ops::cast(copy, DType::kInt32).to_vector<std::int32_t>());
    const Tensor turned = tensor(std::span<const float>(heads.to_vector<float>()), {8, 8, 48});
    same(ops::batch_mat_mul(heads, heads, {.transpose_b = true}),
         ops::batch_mat_mul(turned, turned, {.transpose_b = true}));
    same(ops::sum(ops::transpose(ops::reshape(x, {8, 8, 48}), {1, 0, 2}), {0}),
         ops::sum(turned, {0}));
  }
}

// Whole numbers: results are whole too, whatever way they are computed, once they are rounded.
Tensor whole_numbers(const std::vector<std::int64_t>& dims, unsigned seed) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  std::mt19937 random(seed);
  Floats values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random() % 9) - 4.0f;
  return tensor(std::span<const float>(values), Shape(std::span<const std::int64_t>(dims)));
}

struct PlaneCase {
  std::int64_t batch, side, in, out, taps, padding;
};

Floats rounded(const Tensor& x) {
  Floats values = x.to_vector<float>();
  for (float& value : values) value = std::round(value);
  return values;
}

// Forward, both gradients, and the gradient of a pooling whose windows lie side by side.
std::vector<Floats> convolved(const std::string& device, const PlaneCase& c) {
  Session session({.device = device});
  const std::int64_t side = c.side + 2 * c.padding - c.taps + 1;
  const std::vector<std::int64_t> pads{c.padding, c.padding, c.padding, c.padding};
  const Tensor x = whole_numbers({c.batch, c.side, c.side, c.in}, 1);
  const Tensor filter = whole_numbers({c.taps, c.taps, c.in, c.out}, 2);
  const Tensor bias = whole_numbers({c.out}, 3);
  const Tensor dy = whole_numbers({c.batch, side, side, c.out}, 4);
  const Tensor y = ops::fused_conv2d(x, filter,
                                     {.bias = bias,
                                      .pads = pads,
                                      .output_size = {side, side},
                                      .activation = ops::Activation::kRelu});
  const std::vector<std::int64_t> two{2, 2};
  const Tensor even = whole_numbers({c.batch, 6, 4, c.out}, 5);
  const Tensor pooled = whole_numbers({c.batch, 3, 2, c.out}, 6);
  return {
      rounded(y),
      rounded(
          ops::conv2d_backprop_input(dy, filter, {c.batch, c.side, c.side, c.in}, {.pads = pads})),
      rounded(ops::conv2d_backprop_filter(x, dy, {c.taps, c.taps, c.in, c.out}, {.pads = pads})),
      rounded(ops::max_pool_grad(pooled, even, two, {.strides = two}))};
}

TEST_F(Gpu, ConvolutionsWithFewChannelsGiveWhatTheCpuGives) {
  for (const PlaneCase& c : {PlaneCase{2, 7, 1, 1, 3, 0}, PlaneCase{3, 9, 3, 5, 3, 1},
                             PlaneCase{32, 12, 8, 16, 5, 0}, PlaneCase{64, 28, 1, 8, 5, 2},
                             PlaneCase{5, 6, 4, 32, 1, 1}, PlaneCase{130, 24, 16, 20, 3, 1},
                             PlaneCase{1, 40, 32, 32, 3, 0}, PlaneCase{300, 24, 4, 8, 3, 1}}) {
    SCOPED_TRACE(testing::Message() << c.batch << ' ' << c.side << ' ' << c.in << ' ' << c.out);
    EXPECT_EQ(convolved(name_, c), convolved("cpu", c));
  }
}

TEST_F(Gpu, AReadNobodyWaitsFor) {
  Session session({.device = name_});
  Tensor x = ops::fill({16 << 20}, 3, DType::kFloat32);
  for (int i = 0; i < 50; ++i) x = ops::add(x, x * 0);
  AsyncRead read(session.context(), x.handle());
  x = Tensor();
  std::uint64_t polls = 0;
  while (!read.done()) ++polls;
  EXPECT_GT(polls, 0u);
  Floats values(16 << 20);
  read.take(std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, Floats(16 << 20, 3));
}

TEST_F(Gpu, MovesToTheHostAndBack) {
  Session session({.device = name_});
  Context& context = session.context();
  Device& cpu = Device::open({.name = "gpu moves"});
  const Tensor x = tensor({1.0f, 2.0f}, {2});
  {
    const Tensor there(context, ops::copy_to({context, cpu}, x.handle()).handle);
    const Tensor back(context, ops::copy_to(session.place(), there.handle()).handle);
    EXPECT_EQ(ops::add(back, x).to_vector<float>(), (Floats{2, 4}));
  }
  Device::close(cpu);
}

}  // namespace
}  // namespace ebb::test
