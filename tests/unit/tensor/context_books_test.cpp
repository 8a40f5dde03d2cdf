// What the books say of contexts, devices and sites.
#include "ebb/tensor/context.hpp"
#include "unit/tensor/context_fixture.hpp"

namespace ebb::test {
namespace {

using BooksOf = ContextTest;

TEST_F(BooksOf, ADeviceAreApartFromTheOthers) {
  make();
  adopt(70);
  adopt(30);
  EXPECT_EQ(context->memory(wasm.get()).books.live, 2u);
  EXPECT_EQ(context->memory(wasm.get()).books.storages.bytes, 100u);
  EXPECT_EQ(context->memory(cpu.get()).books.live, 1u);
  EXPECT_EQ(context->memory().books.live, 3u);
}

TEST_F(BooksOf, AllContextsAreSummed) {
  ReclaimOn on;
  const ContextPtr other = Context::create({.name = "other"});
  const std::uint64_t majors = Context::total_memory().collections.major;
  make();
  other->make({.device = cpu.get()});
  other->open();
  EXPECT_EQ(Context::total_memory(cpu.get()).books.live, 2u);
  EXPECT_EQ(Context::total_memory().regions, 1u);
  EXPECT_EQ(context->memory().books.live, 1u);
  host.on_collect = [](Collection) { return 40; };
  context->collect(Collection::kMajor);
  EXPECT_EQ(Context::total_memory().collections.major, majors + 1);
  context.reset();
  EXPECT_EQ(Context::total_memory().collections.major, majors + 1);
  EXPECT_GE(Context::total_memory().collections.longest_ns, 40u);
}

TEST_F(BooksOf, SitesSayWhoHoldsWhat) {
  const SiteId a = SiteTable::instance().intern("a.cpp:1"),
               b = SiteTable::instance().intern("b.cpp:2");
  context->adopt({.device = wasm.get(), .bytes = 100, .site = a});
  context->adopt({.device = wasm.get(), .bytes = 300, .site = b});
  Context::orphan(context->adopt({.device = wasm.get(), .bytes = 50, .site = a}));
  make({16}, 0, a);
  const auto holdings = context->holdings(wasm.get());
  ASSERT_EQ(holdings.size(), 2u);
  EXPECT_EQ(holdings[0].site, b);
  EXPECT_EQ(holdings[0].live.bytes, 300u);
  EXPECT_EQ(holdings[1].site, a);
  EXPECT_EQ(holdings[1].live.count, 2u);
  EXPECT_EQ(holdings[1].orphans, 1u);
  EXPECT_EQ(context->holdings().size(), 2u);
  EXPECT_EQ(Context::total_holdings(cpu.get()).size(), 1u);
}

TEST_F(BooksOf, SharedStoragesAreSplitAmongTheirTensors) {
  const SiteId a = SiteTable::instance().intern("a.cpp:1"),
               b = SiteTable::instance().intern("b.cpp:2");
  context->adopt({.device = wasm.get(), .key = 1, .bytes = 100, .site = a});
  context->adopt({.device = wasm.get(), .key = 1, .bytes = 100, .site = b});
  for (const SiteHolding& holding : context->holdings()) EXPECT_EQ(holding.live.bytes, 50u);
}

TEST_F(BooksOf, HoldsAreNobodysHolding) {
  const Handle handle = make();
  const Handle hold = context->hold_by_name(handle);
  EXPECT_EQ(context->holdings()[0].live.count, 1u);
  context->dispose(handle);
  EXPECT_TRUE(context->holdings().empty());
  Context::release_by_name(hold);
}

TEST_F(BooksOf, APeakIsTheMostThereWas) {
  for (int i = 0; i < 5; ++i) adopt(10);
  const Handle handle = adopt(1000);
  context->dispose(handle);
  EXPECT_EQ(books().peak_live, 6u);
  EXPECT_EQ(books().peak_bytes, 1050u);
  EXPECT_EQ(wasm->peak_committed(), 1050u);
}

TEST_F(BooksOf, AnAuditNamesTheSumThatIsOff) {
  const Block unbooked = cpu->pool().allocate(64);
  EXPECT_ERROR(Context::audit(), kInternal, "[audit]", "cpu", "bytes in use = storages");
  cpu->pool().free(unbooked);
  EXPECT_NO_THROW(Context::audit());
}

TEST(HostDefaults, ACollectorIsNotThere) {
  Host host;
  EXPECT_FALSE(host.can_collect());
  EXPECT_EQ(host.collect(Collection::kMajor), 0u);
  host.end({});
  testing::internal::CaptureStderr();
  host.warn("look here");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ebb: look here\n");
}

}  // namespace
}  // namespace ebb::test
