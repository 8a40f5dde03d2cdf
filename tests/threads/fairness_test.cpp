// Many more threads than processors in one context: each gets its share, and waiting for the others
// costs little. EBB_FAIRNESS_SECONDS says for how long; a few seconds where nothing is said.
#include <algorithm>
#include <barrier>
#include <numeric>
#include <thread>

#include "support/audited.hpp"
#include "support/cpu_time.hpp"
#include "support/hosts.hpp"
#include "support/seed.hpp"

namespace ebb::test {
namespace {

constexpr std::size_t kThreads = 64;

struct Share {
  std::uint64_t done = 0;
  double cpu_ms = 0;
};

// Each thread makes and disposes of tensors until the time is over.
std::vector<Share> work(Context& context, Device& device, std::size_t threads, double seconds) {
  std::vector<Share> shares(threads);
  std::barrier begin(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::jthread> running;
  for (Share& share : shares) {
    running.emplace_back([&] {
      const std::array<std::int64_t, 1> dims{64};
      const TensorSpec spec{.device = &device, .dtype = DType::kFloat32, .shape = Shape(dims)};
      begin.arrive_and_wait();
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
      const CpuTime spent;
      while (std::chrono::steady_clock::now() < end) {
        for (int i = 0; i < 16; ++i) context.dispose(context.make(spec));
        share.done += 16;
      }
      share.cpu_ms = spent.ms();
    });
  }
  running.clear();
  return shares;
}

Share sum(const std::vector<Share>& shares) {
  return std::accumulate(shares.begin(), shares.end(), Share(), [](Share all, const Share& each) {
    return Share{all.done + each.done, all.cpu_ms + each.cpu_ms};
  });
}

TEST(Fairness, SixtyFourThreadsShareAContext) {
  if (kSlowBuild) GTEST_SKIP() << "what a sanitizer costs is not what is measured";
  const double seconds = static_cast<double>(from_environment("EBB_FAIRNESS_SECONDS", 3));
  OpenDevice device({.kind = DeviceKind::kSystem, .name = "shared"});
  const ContextPtr context = Context::create({.name = "shared"});
  const Share alone = sum(work(*context, *device, 1, seconds / 6));
  const std::vector<Share> shares = work(*context, *device, kThreads, seconds);
  const Share all = sum(shares);
  const std::uint64_t least = std::ranges::min_element(shares, {}, &Share::done)->done;
  const double mean = static_cast<double>(all.done) / kThreads;
  const double one_us = alone.cpu_ms * 1e3 / static_cast<double>(alone.done);
  const double each_us = all.cpu_ms * 1e3 / static_cast<double>(all.done);
  note(
      "64 threads: {:.1f} million operations, the least share is {:.2f} of the mean; {:.3f} us of "
      "processor time an operation, {:.2f} x one thread's",
      static_cast<double>(all.done) * 1e-6, static_cast<double>(least) / mean, each_us,
      each_us / one_us);
  // In a few seconds, beside others, the machine's own turns are uneven; but nobody starves.
  const bool full = std::getenv("EBB_FAIRNESS_SECONDS") != nullptr;
  EXPECT_GE(static_cast<double>(least), mean / (full ? 4 : 20));
  EXPECT_LE(each_us, (full ? 1.5 : 4) * one_us);
}

}  // namespace
}  // namespace ebb::test
