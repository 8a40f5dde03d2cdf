// Contexts: opened, found, closed, and taken again.
#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "ebb/tensor/tensor.hpp"
#include "tensor/context_registry.hpp"
#include "unit/tensor/context_fixture.hpp"

namespace ebb::test {
namespace {

using Life = ContextTest;

TEST_F(Life, IsFoundByNameUntilItEnds) {
  const std::uint64_t id = context->id();
  EXPECT_EQ(context->name(), "main");
  ASSERT_TRUE(Context::find(id).has_value());
  EXPECT_EQ(Context::find(id)->name(), "main");
  EXPECT_FALSE(Context::find(0).has_value());
  EXPECT_FALSE(Context::find(id + 1).has_value());
  EXPECT_FALSE(Context::find(~std::uint64_t{0}).has_value());
  context.reset();
  EXPECT_FALSE(Context::find(id).has_value());
  EXPECT_FALSE(Context::find(0).has_value()) << "the place of one that has ended";
}

TEST_F(Life, EndsWhatIsInIt) {
  const std::uint64_t before = Context::total_memory().books.ended[3];
  const RegionId region = context->open(context->open());
  make({4}, region);
  adopt(10, 0, region, 1);
  adopt(10, 0, 0, 2);
  const Handle lent = adopt(10, 0, 0, 3);
  context->attach_temporarily(region, lent);
  Context::orphan(lent);
  make();
  context.reset();
  EXPECT_EQ(host.ends.size(), 3u);
  for (const ForeignEnd& end : host.ends) EXPECT_EQ(end.reason, Reason::kShutdown);
  EXPECT_EQ(Context::total_memory().books.ended[3], before + 5);
  EXPECT_EQ(cpu->in_use() + wasm->in_use(), 0u);
}

TEST_F(Life, NothingIsBornInOneThatHasEnded) {
  StorageRef held = context->hold(make());
  const Context ended = *context;
  const RegionId region = ended.open();
  context.reset();  // but not retired: something is held
  EXPECT_ERROR(ended.make({.device = cpu.get()}), kStaleHandle, "[make]", "context has ended");
  EXPECT_ERROR(ended.adopt({.device = wasm.get()}), kStaleHandle, "context has ended");
  EXPECT_ERROR(ended.open(), kStaleHandle, "context has ended");
  EXPECT_ERROR(ended.root(), kStaleHandle, "context has ended");
  EXPECT_ERROR(ended.close(region), kStaleHandle, "context has ended");
  EXPECT_ERROR(ended.safe_point(), kStaleHandle, "context has ended");
  EXPECT_ERROR(ended.memory(), kStaleHandle, "context has ended");
  EXPECT_FALSE(ended.close());
  EXPECT_EQ(Context::total_memory().books.live, 0u);
}

TEST_F(Life, AnEndedOneDoesNotCollect) {
  ReclaimOn on;
  host.on_collect = [](Collection) { return 1; };
  StorageRef held = context->hold(adopt(100));
  wasm->set_budget(10, BudgetMode::kSoft);
  const Context ended = *context;
  context.reset();
  EXPECT_ERROR(ended.safe_point(wasm.get(), 50), kStaleHandle, "[safe_point]");
  EXPECT_ERROR(ended.collect(Collection::kMajor), kStaleHandle, "[collect]");
  EXPECT_ERROR(ended.make_room(*wasm, 5), kStaleHandle, "[make_room]");
  EXPECT_TRUE(host.collections.empty());
  EXPECT_TRUE(host.warnings.empty());
}

TEST_F(Life, TheNextOneTakesItsPlaceButNotItsNames) {
  const std::uint64_t id = context->id();
  const Handle handle = make();
  const RegionId region = context->open();
  ContextBody* const place = ContextRegistry::instance().find(id);
  context.reset();
  context = Context::create({.name = "second"});
  EXPECT_EQ(ContextRegistry::instance().find(context->id()), place);
  EXPECT_NE(context->id(), id);
  EXPECT_FALSE(Context::find(id).has_value());
  EXPECT_THROW(context->describe(handle), Error);
  EXPECT_THROW(context->describe_region(region), Error);
  EXPECT_EQ(books().created, 0u);
  EXPECT_EQ(context->memory().peak_orphans, 0u);
  context->dispose(context->make({.device = cpu.get()}));
}

TEST_F(Life, TheBooksOfEndedOnesAreKept) {
  const std::uint64_t before = Context::total_memory().books.created;
  make();
  adopt();
  context.reset();
  const Books total = Context::total_memory().books;
  EXPECT_EQ(total.created, before + 2);
  EXPECT_EQ(total.live, 0u);
  EXPECT_TRUE(total.balanced());
}

TEST_F(Life, ClosingTwiceIsClosingOnce) {
  EXPECT_TRUE(context->close());
  EXPECT_FALSE(context->close());
}

// The place of a context that has ended serves the next: a name that is kept must not reach it.
TEST_F(Life, AnEndedNameDoesNotReachTheNext) {
  const Context ended = *context;
  ContextBody* const place = ContextRegistry::instance().find(ended.id());
  const RegionId region = ended.open();
  const Handle handle = make();
  ended.close();
  const ContextPtr next = Context::create({.name = "next"});
  ASSERT_EQ(ContextRegistry::instance().find(next->id()), place);
  EXPECT_FALSE(ended.close());
  EXPECT_ERROR(ended.make({.device = cpu.get()}), kStaleHandle, "[make] the context has ended");
  EXPECT_ERROR(ended.adopt({.device = wasm.get()}), kStaleHandle, "[adopt]");
  EXPECT_ERROR(ended.open(), kStaleHandle, "[open]");
  EXPECT_ERROR(ended.close(region), kStaleHandle, "[close]");
  EXPECT_ERROR(ended.dispose(handle), kStaleHandle, "[dispose]");
  EXPECT_ERROR(ended.hold(handle), kStaleHandle, "[hold]");
  EXPECT_ERROR(ended.safe_point(), kStaleHandle, "[safe_point]");
  EXPECT_ERROR(ended.collect(Collection::kMinor), kStaleHandle, "[collect]");
  EXPECT_ERROR(ended.memory(), kStaleHandle, "[memory]");
  EXPECT_ERROR(ended.holdings(), kStaleHandle, "[holdings]");
  EXPECT_ERROR(ended.name(), kStaleHandle, "[name]");
  EXPECT_EQ(next->memory().books.created, 0u);
}

TEST_F(Life, APointerEndsOnlyWhatItWasMadeFor) {
  context->close();
  const ContextPtr next = Context::create({.name = "next"});
  context.reset();
  EXPECT_EQ(next->name(), "next");
  next->dispose(next->make({.device = cpu.get()}));
}

TEST_F(Life, ATensorIsOfItsOwnContext) {
  std::optional<Tensor> kept(std::in_place, *context, make());
  context->close();
  const ContextPtr next = Context::create({.name = "next"});
  EXPECT_ERROR(kept->shape(), kStaleHandle, "[describe] the context has ended");
  EXPECT_NO_THROW(kept.reset());
  EXPECT_EQ(next->memory().books.created, 0u);
}

TEST_F(Life, AHostOfItsOwnGoesWhenItHasClosed) {
  struct Counted : Host {
    explicit Counted(int& there) : there_(there) { ++there_; }
    ~Counted() override { --there_; }
    void end(std::span<const ForeignEnd>) override { EXPECT_EQ(there_, 1); }
    int& there_;
  };
  int there = 0;
  const Context own = Context::begin({.name = "own", .own_host = std::make_unique<Counted>(there)});
  own.adopt({.device = wasm.get()});
  StorageRef held = own.hold(own.make({.device = cpu.get()}));
  EXPECT_EQ(there, 1);
  EXPECT_TRUE(own.close());
  EXPECT_EQ(there, 0) << "the host outlived the close";
}

// The least of several turns, so that a busy machine does not matter.
template <typename Turn>
double least_ns(Turn&& turn) {
  double least = 1e18;
  for (int i = 0; i < 25; ++i) {
    const auto start = std::chrono::steady_clock::now();
    turn();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count());
  }
  return least;
}

TEST_F(Life, AdoptingCostsTheSameBesideManyContexts) {
  const auto turn = [&] {
    for (int i = 0; i < 500; ++i) {
      context->safe_point();
      context->dispose(adopt());
    }
  };
  const double alone = least_ns(turn);
  std::vector<ContextPtr> others;
  for (int i = 0; i < 900; ++i) {
    others.push_back(Context::create({.name = "other"}));
    others.back()->adopt({.device = wasm.get(), .bytes = 8});
  }
  EXPECT_LE(least_ns(turn), 8 * alone);
  others.clear();
  EXPECT_LE(least_ns(turn), 8 * alone);
}

TEST_F(Life, ManyAreOpenAtOnce) {
  std::vector<ContextPtr> contexts;
  for (int i = 0; i < 50; ++i) {
    contexts.push_back(Context::create({.name = std::to_string(i)}));
    contexts.back()->make({.device = cpu.get()});
  }
  EXPECT_EQ(Context::total_memory().books.live, 50u);
  EXPECT_NO_THROW(Context::audit());
}

TEST_F(Life, ThereIsALimitToTheirNumber) {
  std::vector<ContextPtr> contexts;
  EXPECT_ERROR(
      [&] {
        while (contexts.size() <= ContextRegistry::kMost) {
          contexts.push_back(Context::create({}));
        }
      }(),
      kWrongState, "1024 contexts");
  EXPECT_EQ(contexts.size(), ContextRegistry::kMost - 1);  // and the fixture's
  contexts.pop_back();
  EXPECT_NO_THROW(Context::create({}));
}

TEST_F(Life, ADeviceInUseIsNotClosed) {
  make();
  EXPECT_ERROR(Device::close(*cpu), kWrongState, "cpu", "in use");
  adopt();
  EXPECT_ERROR(Device::close(*wasm), kWrongState, "wasm", "100 bytes");
}

TEST_F(Life, WorksWithoutAHost) {
  ReclaimOn on;
  context = Context::create({});
  const Handle handle = adopt(50);
  wasm->set_budget(10, BudgetMode::kSoft);
  Context::orphan(handle);
  EXPECT_EQ(context->safe_point(wasm.get()).tensors, 1u);
  adopt(50);
  EXPECT_EQ(context->safe_point(wasm.get()).tensors, 0u);
  EXPECT_EQ(context->collect(Collection::kMajor).collections, 0u);
}

}  // namespace
}  // namespace ebb::test
