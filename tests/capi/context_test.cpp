#include <atomic>
#include <stdexcept>
#include <thread>

#include "capi/capi_fixture.hpp"

namespace {

class CapiContext : public CapiTest {
 protected:
  ebb_context make(TestHost& of, const char* name = "second") {
    const ebb_context_options options = of.options(name);
    ebb_context made = 0;
    EXPECT_OK(ebb_context_create(&options, &made));
    return made;
  }
};

TEST_F(CapiContext, DestroyedTwiceIsStale) {
  TestHost other;
  const ebb_context second = make(other);
  EXPECT_OK(ebb_context_destroy(second));
  EXPECT_STATUS(ebb_context_destroy(second), EBB_STALE_HANDLE);
}

TEST_F(CapiContext, NamesAreNeverUsedAgain) {
  TestHost other;
  const ebb_context first = make(other);
  EXPECT_OK(ebb_context_destroy(first));
  const ebb_context second = make(other);
  EXPECT_NE(first, second);
  EXPECT_LT(second, uint64_t{1} << 53);
  ebb_region region = 0;
  EXPECT_STATUS(ebb_region_open(first, 0, nullptr, &region), EBB_STALE_HANDLE);
  EXPECT_OK(ebb_context_destroy(second));
}

TEST_F(CapiContext, ForgedNames) {
  for (const ebb_context forged :
       {uint64_t{0}, uint64_t{1}, context + 1, context << 8, UINT64_MAX}) {
    ebb_handle handle = 0;
    const ebb_tensor_spec spec = spec_of(1);
    EXPECT_STATUS(ebb_tensor_create(forged, &spec, &handle), EBB_STALE_HANDLE);
    EXPECT_STATUS(ebb_context_destroy(forged), EBB_STALE_HANDLE);
    EXPECT_STATUS(ebb_safe_point(forged, 0, 0, 0, nullptr), EBB_STALE_HANDLE);
    EXPECT_STATUS(ebb_collect(forged, EBB_COLLECT_MINOR, 0, nullptr), EBB_STALE_HANDLE);
  }
}

TEST_F(CapiContext, BadOptions) {
  ebb_context made = 0;
  ebb_context_options options = host.options(nullptr);
  EXPECT_EQ(ebb_context_create(nullptr, &made), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_context_create(&options, nullptr), EBB_INVALID_ARGUMENT);
  options.flags = 0x80;
  EXPECT_EQ(ebb_context_create(&options, &made), EBB_INVALID_ARGUMENT);
  EXPECT_STREQ(ebb_last_error(), "[context_create] flags 0x80 were given, bits of 0x5 are allowed");
  options.flags = 0;
  for (const double share : {-1.0, 1e300, 0.0, 1.0}) {  // odd, and harmless
    options.collect_share = share;
    EXPECT_OK(ebb_context_create(&options, &made));
    EXPECT_OK(ebb_context_destroy(made));
  }
}

TEST_F(CapiContext, EndsWhatIsInIt) {
  create(kKilobyte);
  adopt(0, 100, 7, open());
  EXPECT_OK(ebb_context_destroy(context));
  context = 0;
  ASSERT_EQ(host.ended.size(), 1u);
  EXPECT_EQ(host.ended[0].tag, 7u);
  EXPECT_EQ(host.ended[0].reason, static_cast<uint32_t>(EBB_ENDED_SHUTDOWN));
  EXPECT_EQ(describe_device(own).in_use, 0u);
  EXPECT_EQ(describe_device(foreign).in_use, 0u);
}

TEST_F(CapiContext, AContextWithoutCallbacks) {
  auto options = sized<ebb_context_options>();
  ebb_context bare = 0;
  ASSERT_OK(ebb_context_create(&options, &bare));
  const ebb_foreign_spec spec = foreign_spec(0, 100);
  ebb_handle handle = 0;
  EXPECT_OK(ebb_tensor_adopt(bare, &spec, &handle));
  ebb_orphan(handle);
  ebb_reclaim_set(1);
  EXPECT_OK(ebb_safe_point(bare, foreign, 0, 0, nullptr));
  EXPECT_OK(ebb_collect(bare, EBB_COLLECT_MAJOR, 0, nullptr));
  EXPECT_OK(ebb_context_destroy(bare));
  EXPECT_EQ(describe_device(foreign).in_use, 0u);
}

TEST_F(CapiContext, CannotEndInsideItsOwnCallback) {
  adopt(0, 100, 1, open());
  ebb_status inside = EBB_OK;
  host.in_end = [&] { inside = ebb_context_destroy(context); };
  const ebb_region region = open();
  adopt(0, 100, 2, region);
  EXPECT_OK(ebb_region_close(context, region));
  EXPECT_EQ(inside, EBB_WRONG_STATE);
  host.in_collect = host.in_end;
  inside = EBB_OK;
  ebb_reclaim_set(1);
  EXPECT_OK(ebb_collect(context, EBB_COLLECT_MINOR, 0, nullptr));
  EXPECT_EQ(inside, EBB_WRONG_STATE);
}

TEST_F(CapiContext, MayEndAnotherInsideItsCallback) {
  TestHost other;
  const ebb_context second = make(other);
  ebb_status inside = EBB_INTERNAL;
  host.in_end = [&] { inside = ebb_context_destroy(second); };
  const ebb_region region = open();
  adopt(0, 100, 2, region);
  EXPECT_OK(ebb_region_close(context, region));
  EXPECT_EQ(inside, EBB_OK);
}

TEST_F(CapiContext, TheEndCallbackMayCallAnything) {
  std::vector<ebb_handle> born;
  host.in_end = [&] {
    born.push_back(create(kKilobyte));
    EXPECT_OK(ebb_tensor_dispose(context, born.back()));
    EXPECT_OK(ebb_region_close(context, open()));
    EXPECT_OK(ebb_safe_point(context, 0, 0, 0, nullptr));
    EXPECT_OK(ebb_audit());
  };
  const ebb_region region = open();
  for (int i = 0; i < 100; ++i) adopt(0, 100, 2, region);
  EXPECT_OK(ebb_region_close(context, region));
  EXPECT_EQ(host.ended.size(), 100u);
  EXPECT_FALSE(born.empty());
}

TEST_F(CapiContext, CallbacksThatThrowDoNotUnbalanceTheBooks) {
  host.in_end = [] { throw std::runtime_error("host"); };
  host.in_collect = host.in_end;
  const ebb_region region = open();
  for (int i = 0; i < 100; ++i) adopt(0, 100, 2, region);
  EXPECT_OK(ebb_region_close(context, region));
  EXPECT_EQ(host.ended.size(), 100u);
  ebb_reclaim_set(1);
  EXPECT_OK(ebb_collect(context, EBB_COLLECT_MAJOR, 0, nullptr));
}

// The host is gone when destroy returns: what another thread is doing in it must be over.
TEST_F(CapiContext, EndsOnlyWhenNoThreadIsInACallback) {
  TestHost other;
  const ebb_context second = make(other);
  std::atomic<bool> entered = false, left = false;
  other.in_end = [&] {
    entered = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    left = true;
  };
  ebb_region region = 0;
  ASSERT_OK(ebb_region_open(second, 0, nullptr, &region));
  const ebb_foreign_spec spec = foreign_spec(0, 100, 1, region);
  ebb_handle handle = 0;
  ASSERT_OK(ebb_tensor_adopt(second, &spec, &handle));
  std::thread closer([&] { EXPECT_OK(ebb_region_close(second, region)); });
  while (!entered) std::this_thread::yield();
  EXPECT_OK(ebb_context_destroy(second));
  EXPECT_TRUE(left);
  closer.join();
}

TEST_F(CapiContext, ManyOfThemInTurn) {
  TestHost other;
  for (int i = 0; i < 3000; ++i) EXPECT_OK(ebb_context_destroy(make(other)));
}

TEST_F(CapiContext, TooManyAtOnceIsAStatus) {
  TestHost other;
  std::vector<ebb_context> all;
  ebb_status status = EBB_OK;
  while (status == EBB_OK && all.size() < 5000) {
    const ebb_context_options options = other.options("many");
    ebb_context made = 0;
    status = ebb_context_create(&options, &made);
    if (status == EBB_OK) all.push_back(made);
  }
  EXPECT_EQ(status, EBB_WRONG_STATE);
  for (const ebb_context each : all) EXPECT_OK(ebb_context_destroy(each));
}

TEST_F(CapiContext, ErrorsAreKeptByThread) {
  EXPECT_EQ(ebb_context_destroy(0), EBB_STALE_HANDLE);
  const std::string mine = ebb_last_error();
  std::thread([] {
    EXPECT_STREQ(ebb_last_error(), "");
    EXPECT_EQ(ebb_trace_set(99), EBB_INVALID_ARGUMENT);
    EXPECT_STRNE(ebb_last_error(), "");
  }).join();
  EXPECT_EQ(mine, ebb_last_error());
  EXPECT_OK(ebb_audit());
  EXPECT_EQ(mine, ebb_last_error()) << "the last failure stays after a success";
}

}  // namespace
