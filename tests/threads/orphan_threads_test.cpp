// Threads that make and drop under a hard budget: as long as all that lives has been dropped, there is
// room.
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ebb/base/error.hpp"
#include "support/audited.hpp"
#include "support/hosts.hpp"

namespace ebb::test {
namespace {

constexpr auto kWhile = std::chrono::milliseconds(1500);
constexpr std::int64_t kElements = 1 << 18;
constexpr std::uint64_t kBytes = kElements * sizeof(float);

// What was refused, and how often.
class Refusals {
 public:
  void add(const Error& error) {
    const std::lock_guard guard(mutex_);
    if (count_++ == 0) first_ = error.what();
  }
  std::uint64_t count() const { return count_; }
  const std::string& first() const { return first_; }

 private:
  std::mutex mutex_;
  std::uint64_t count_ = 0;
  std::string first_;
};

void make_and_drop(std::size_t threads, std::uint64_t budget) {
  const ReclaimOn on;
  OpenDevice cpu(DeviceOptions{.kind = DeviceKind::kSystem, .name = "dropping", .budget = budget});
  const ContextPtr context = Context::create({.name = "dropping"});
  Refusals refusals;
  const auto end = std::chrono::steady_clock::now() + kWhile;
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&] {
      while (std::chrono::steady_clock::now() < end) {
        try {
          Context::orphan(context->make({.device = cpu.get(), .shape = {kElements}}));
        } catch (const Error& error) {
          refusals.add(error);
        }
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(refusals.count(), 0u) << refusals.first();
}

// A thread may lose its processor inside a notice, and others make a budget full meanwhile.
TEST(OrphanThreads, ANoticeThatIsInterruptedKeepsNobodyFromMemory) {
  make_and_drop(4, 20 * kBytes);
}

}  // namespace
}  // namespace ebb::test
