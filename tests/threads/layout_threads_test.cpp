// Threads that read a strided tensor while others make it dense, make views of it, or end it.
#include <cstring>
#include <thread>
#include <vector>

#include "ebb/tensor/context.hpp"
#include "support/audited.hpp"
#include "support/hosts.hpp"

namespace ebb {
namespace {

constexpr std::int64_t kRows = 16, kColumns = 24;

class Shared {
 public:
  explicit Shared(Device& cpu) : cpu_(cpu) {}

  Handle transposed() {
    MadeTensor base = context_->make_held({.device = &cpu_, .shape = {kRows, kColumns}});
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
      const auto value = static_cast<float>(i);
      std::memcpy(base.data + i * 4, &value, sizeof value);
    }
    const Operand seen = resolve(base.handle);
    const Handle made =
        context_->strided_view(base.handle, seen, 0, {1, kColumns}, {.shape = {kColumns, kRows}});
    context_->dispose(base.handle);
    return made;
  }
  Operand resolve(Handle handle) {
    Operand seen;
    context_->resolve({&handle, 1}, {&seen, 1}, "test");
    return seen;
  }
  // Whether the operand's elements are those of transposed().
  static bool is_right(const Operand& operand) {
    std::vector<float> values(kRows * kColumns);
    pack(operand, std::as_writable_bytes(std::span(values)).data());
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
      const std::int64_t expected = i % kRows * kColumns + i / kRows;
      if (values[static_cast<std::size_t>(i)] != static_cast<float>(expected)) return false;
    }
    return true;
  }
  Context& context() { return *context_; }

 private:
  Device& cpu_;
  ContextPtr context_ = Context::create({.name = "layout threads"});
};

TEST(LayoutThreads, ReadWhileOthersMakeDense) {
  const test::OpenDevice cpu({.name = "layout threads"});
  Shared shared(*cpu);
  for (int round = 0; round < 200; ++round) {
    const Handle handle = shared.transposed();
    std::atomic<int> wrong{0}, views{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        Operand operand = shared.resolve(handle);
        if (t % 2 == 0) shared.context().make_dense(handle, operand);
        wrong += Shared::is_right(operand) ? 0 : 1;
        const Handle view = shared.context().strided_view(
            handle, operand, 0, operand.dense ? dense_strides(operand.shape) : operand.strides,
            {.shape = operand.shape});
        if (view == 0) return;  // made dense since
        wrong += Shared::is_right(shared.resolve(view)) ? 0 : 1;
        shared.context().dispose(view);
        ++views;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_GE(views, 2) << "those who made it dense know how it lies";
    EXPECT_TRUE(shared.context().describe(handle).dense);
    shared.context().dispose(handle);
    ASSERT_EQ(shared.context().memory().books.live, 0u);
    ASSERT_EQ(cpu->in_use(), 0u);
  }
  Context::audit();
}

TEST(LayoutThreads, EndWhileOthersMakeDense) {
  const test::OpenDevice cpu({.name = "layout threads"});
  Shared shared(*cpu);
  for (int round = 0; round < 300; ++round) {
    const Handle handle = shared.transposed();
    Operand operand = shared.resolve(handle);
    std::thread other([&] { shared.context().dispose(handle); });
    shared.context().make_dense(handle, operand);
    other.join();
    EXPECT_TRUE(operand.dense && Shared::is_right(operand));
    operand = Operand();
    ASSERT_EQ(cpu->in_use(), 0u);
  }
  Context::audit();
}

}  // namespace
}  // namespace ebb
