// Threads that read one model, each with a recorded function of its own, as servers do: recording writes nothing that
// another thread reads.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

struct Net final : nn::Layer {
  nn::Dense hidden{64, 256, {.activation = ops::Activation::kRelu}};
  nn::Dense out{256, 10};

  Tensor operator()(const Tensor& x) override { return out(hidden(x)); }
  void parts(nn::Parts& parts) override {
    parts.layer("hidden", hidden);
    parts.layer("out", out);
  }
};

TEST(RecordThreads, ShareAModelThatTheyRead) {
  TestSession session;
  const Context context = session.context();
  Device& device = session.device();
  Net net;
  const Tensor x = ops::random_normal({1, 64}, {.seed = 3});
  const std::vector<float> wanted = net(x).to_vector<float>();
  std::atomic<int> wrong = 0;
  const auto serve = [&](bool names) {
    Session mine(ops::RunPlace{context, device});
    for (int i = 0; i < 300; ++i) {
      const auto forward =
          record([&](const Tensor& z) { return net(z); },
                 names ? net.variables() : std::vector<Variable*>(), {.join = false});
      for (int call = 0; call < 3; ++call) {
        const std::vector<float> made = forward(x).to_vector<float>();
        for (std::size_t at = 0; at < wanted.size(); ++at) {
          if (std::abs(made[at] - wanted[at]) > 1e-4) ++wrong;
        }
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(serve, i % 2 == 0);
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace ebb::test
