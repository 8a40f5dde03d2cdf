#include <vector>

#include "unit/tensor/context_fixture.hpp"

namespace ebb::test {
namespace {

class Regions : public ContextTest {
 protected:
  bool lives(Handle handle) {
    try {
      context->describe(handle);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  Handle saved = 0;
};

TEST_F(Regions, EndWhatIsInThem) {
  const RegionId outer = context->open(0, "outer");
  const RegionId inner = context->open(outer);
  make({4}, outer);
  make({4}, inner);
  const Handle kept = make();
  EXPECT_EQ(context->describe_region(outer).tensors, 1u);
  EXPECT_EQ(context->describe_region(outer).children, 1u);
  EXPECT_EQ(context->describe_region(inner).parent, outer);
  EXPECT_EQ(context->describe_region(inner).depth, 2u);
  EXPECT_EQ(context->memory().regions, 2u);
  EXPECT_TRUE(context->close(outer));
  EXPECT_FALSE(context->close(outer));
  EXPECT_FALSE(context->close(inner));
  EXPECT_EQ(ended(Reason::kRegion), 2u);
  EXPECT_EQ(books().live, 1u);
  EXPECT_EQ(context->memory().regions, 0u);
  context->dispose(kept);
}

TEST_F(Regions, OfAScopeEndWithIt) {
  Handle handle = 0;
  try {
    const RegionScope scope(*context);
    handle = make({4}, scope.id());
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(books().live, 0u);
  EXPECT_ERROR(context->describe(handle), kStaleHandle, "has ended");
}

TEST_F(Regions, AScopeMayOutliveItsContext) {
  const RegionScope scope(*context);
  make({4}, scope.id());
  context.reset();
  EXPECT_EQ(cpu->in_use(), 0u);
}

TEST_F(Regions, MistakesAreSaid) {
  const RegionId region = context->open();
  EXPECT_ERROR(context->close(0), kInvalidArgument, "[close]", "name");
  EXPECT_ERROR(context->close(context->root()), kWrongState, "root");
  EXPECT_ERROR(context->close(~RegionId{0}), kStaleHandle, "names no region");
  EXPECT_ERROR(context->open(12345), kStaleHandle, "[open]", "names no region");
  context->close(region);
  EXPECT_ERROR(context->open(region), kStaleHandle, "[open]", "has ended");
  EXPECT_ERROR(make({4}, region), kStaleHandle, "[make]", "has ended");
  EXPECT_ERROR(adopt(1, 1, region), kStaleHandle, "[adopt]");
  EXPECT_ERROR(context->describe_region(region), kStaleHandle, "[describe_region]");
  EXPECT_ERROR(context->cap(region), kStaleHandle, "[cap]");
  EXPECT_EQ(cpu->in_use(), 0u);  // the block that was taken for it is back
}

TEST_F(Regions, TensorsMoveBetweenThem) {
  const RegionId a = context->open(), b = context->open(a);
  const Handle handle = make({4}, b);
  context->move_to_parent(handle);
  EXPECT_EQ(context->describe(handle).region, a);
  context->attach(b, handle);
  EXPECT_EQ(context->describe(handle).region, b);
  context->detach(handle);
  EXPECT_EQ(context->describe(handle).region, context->root());
  context->move_to_parent(handle);  // the root has none: it stays
  EXPECT_EQ(context->describe(handle).region, context->root());
  context->close(a);
  EXPECT_EQ(books().live, 1u);
  EXPECT_ERROR(context->attach(a, handle), kStaleHandle, "[attach]");
  EXPECT_ERROR(context->attach(0, 77), kStaleHandle, "[attach]");
  EXPECT_ERROR(context->detach(77), kStaleHandle, "[detach]");
  EXPECT_ERROR(context->move_to_parent(77), kStaleHandle, "[move_to_parent]");
}

TEST_F(Regions, ALentTensorComesBack) {
  const RegionId home = context->open(), guest = context->open();
  const Handle handle = make({4}, home);
  context->attach_temporarily(guest, handle);
  EXPECT_EQ(context->describe(handle).region, guest);
  context->close(guest);
  EXPECT_EQ(context->describe(handle).region, home);
  context->close(home);
  EXPECT_EQ(books().live, 0u);
}

TEST_F(Regions, LentOnItStillGoesBackToWhereItWasFirst) {
  const RegionId home = context->open(), first = context->open(), second = context->open();
  const Handle handle = make({4}, home);
  context->attach_temporarily(first, handle);
  context->attach_temporarily(second, handle);
  context->close(first);
  EXPECT_EQ(context->describe(handle).region, second);
  context->close(second);
  EXPECT_EQ(context->describe(handle).region, home);
  context->close(home);
}

TEST_F(Regions, ALentTensorWhoseHomeHasEndedEndsWithTheGuest) {
  const RegionId home = context->open(), guest = context->open();
  const Handle handle = make({4}, home);
  context->attach_temporarily(guest, handle);
  context->close(home);
  EXPECT_EQ(context->describe(handle).region, guest);
  context->close(guest);
  EXPECT_EQ(books().live, 0u);
  EXPECT_EQ(ended(Reason::kRegion), 1u);
}

TEST_F(Regions, AttachedForGoodItDoesNotGoBack) {
  const RegionId home = context->open(), guest = context->open();
  const Handle handle = make({4}, home);
  context->attach_temporarily(guest, handle);
  context->attach(guest, handle);
  context->close(guest);
  EXPECT_EQ(books().live, 0u);
  context->close(home);
}

TEST_F(Regions, ALentTensorGoesHomeEvenIfHomeIsCapped) {
  const RegionId home = context->open(), guest = context->open();
  const Handle handle = make({4}, home);
  context->attach_temporarily(guest, handle);
  context->cap(home);
  context->close(guest);
  EXPECT_EQ(context->describe(handle).region, home);
}

TEST_F(Regions, ALentTensorInAChildOfItsHomeEndsWithBoth) {
  const RegionId home = context->open(), child = context->open(home);
  const Handle handle = make({4}, home);
  context->attach_temporarily(child, handle);
  context->close(home);
  EXPECT_EQ(books().live, 0u);
  EXPECT_FALSE(context->dispose(handle));
}

TEST_F(Regions, ACappedOneTakesNothingMore) {
  const RegionId region = context->open();
  const Handle inside = make({4}, region), outside = make();
  context->cap(region);
  EXPECT_TRUE(context->describe_region(region).capped);
  EXPECT_ERROR(make({4}, region), kWrongState, "[make]", "capped");
  EXPECT_ERROR(adopt(1, 0, region), kWrongState, "[adopt]");
  EXPECT_ERROR(context->view(outside, 0, {.region = region}), kWrongState, "[view]");
  EXPECT_ERROR(context->attach(region, outside), kWrongState, "[attach]");
  EXPECT_ERROR(context->attach_temporarily(region, outside), kWrongState, "[attach_temporarily]");
  EXPECT_NO_THROW(context->open(region));
  context->detach(inside);
  context->close(region);
  EXPECT_EQ(books().live, 2u);
}

TEST_F(Regions, TheShortestLivedIsTheSameInAnyOrder) {
  const RegionId old = context->open(), young = context->open(), deep = context->open(old);
  const Handle a = make({1}, old), b = make({1}, young), c = make({1}, deep), r = make();
  EXPECT_EQ(context->shortest_lived({}), context->root());
  EXPECT_EQ(context->shortest_lived(std::vector{r}), context->root());
  EXPECT_EQ(context->shortest_lived(std::vector{a, b}), young);
  EXPECT_EQ(context->shortest_lived(std::vector{b, a}), young);
  EXPECT_EQ(context->shortest_lived(std::vector{c, b, r}), deep);
  EXPECT_ERROR(context->shortest_lived(std::vector{a, Handle{5}}), kStaleHandle,
               "[shortest_lived]");
}

TEST_F(Regions, KeepNothingOfWhatHasEndedOtherwise) {
  const RegionId region = context->open();
  for (int i = 0; i < 3000; ++i) context->dispose(adopt(1, 0, region));
  EXPECT_EQ(context->describe_region(region).tensors, 0u);
  context->close(region);
  EXPECT_TRUE(host.ends.empty());
}

TEST_F(Regions, CloseInBatchesAndTellTheHostOfAll) {
  const RegionId region = context->open();
  std::vector<Handle> handles;
  for (int i = 0; i < 1000; ++i) handles.push_back(adopt(1, 0, region, 1 + i));
  const Handle base = make();
  for (int i = 0; i < 1000; ++i) context->view(base, 0, {.shape = {1}, .region = region});
  context->close(region);
  EXPECT_EQ(host.ends.size(), handles.size());
  std::uint64_t tags = 0;
  for (const ForeignEnd& end : host.ends) tags += end.tag;
  EXPECT_EQ(tags, 1000u * 1001 / 2);
  EXPECT_EQ(books().live, 1u);
}

// The lock is not held for all of them: what has not been come to yet is there, and goes with the
// rest.
TEST_F(Regions, ManyBelowOneCloseInSteps) {
  const RegionId top = context->open();
  std::vector<RegionId> below;
  for (int i = 0; i < 5000; ++i) {
    below.push_back(context->open(i % 3 == 2 ? below.back() : top));
    if (i % 10 == 0) adopt(1, 0, below.back());
  }
  int open_meanwhile = 0;
  host.on_end = [&](std::span<const ForeignEnd>) {
    EXPECT_NO_THROW(Context::audit());
    for (const RegionId region : below) {
      try {
        const RegionInfo info = context->describe_region(region);
        EXPECT_TRUE(info.parent == 0 || info.depth == 3);
        ++open_meanwhile;
        if (open_meanwhile == 1) adopt(1, 0, context->open(region));
        break;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kStaleHandle);
      }
    }
  };
  EXPECT_TRUE(context->close(top));
  EXPECT_GT(open_meanwhile, 1);
  EXPECT_EQ(host.ends.size(), 501u);
  EXPECT_EQ(books().live, 0u);
  EXPECT_EQ(context->memory().regions, 0u);
}

TEST_F(Regions, TheHostMayCallBackInTheMiddleOfAClose) {
  const RegionId region = context->open();
  std::vector<Handle> handles;
  for (int i = 0; i < 200; ++i) handles.push_back(adopt(1, 0, region));
  const Handle other = make();
  int calls = 0;
  host.on_end = [&](std::span<const ForeignEnd> ends) {
    ++calls;
    EXPECT_NO_THROW(Context::audit());
    for (const ForeignEnd& end : ends) EXPECT_FALSE(context->dispose(end.handle));
    if (calls == 1) {
      // One that is still in the closing region is on its way out, whatever is asked.
      Handle inside = 0;
      for (const Handle handle : handles) {
        if (lives(handle)) inside = handle;
      }
      ASSERT_NE(inside, 0u);
      EXPECT_EQ(context->describe(inside).region, 0u);
      EXPECT_EQ(context->shortest_lived(std::vector{inside}), context->root());
      context->move_to_parent(inside);  // its region is none any more: it stays where it is
      context->attach(0, inside);       // and so it is saved
      saved = inside;
      make({2});
      EXPECT_FALSE(context->close(region));
    }
  };
  context->close(region);
  EXPECT_GT(calls, 1);
  EXPECT_EQ(host.ends.size(), 199u);
  EXPECT_TRUE(context->dispose(saved));
  EXPECT_TRUE(context->dispose(other));
}

TEST_F(Regions, TheHostMayNotCloseTheContextInTheMiddleOfAClose) {
  const RegionId region = context->open();
  for (int i = 0; i < 100; ++i) adopt(1, 0, region);
  int refused = 0;
  host.on_end = [&](std::span<const ForeignEnd>) {
    EXPECT_ERROR(context->close(), kWrongState, "[close]", "callback");
    ++refused;
  };
  context->close(region);
  EXPECT_GT(refused, 1);
  EXPECT_EQ(host.ends.size(), 100u);
  EXPECT_NO_THROW(make());
}

}  // namespace
}  // namespace ebb::test
