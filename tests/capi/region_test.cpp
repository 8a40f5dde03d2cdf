#include "capi/capi_fixture.hpp"

namespace {

class CapiRegion : public CapiTest {
 protected:
  ebb_region root() {
    ebb_region region = 0;
    EXPECT_OK(ebb_region_shortest_lived(context, nullptr, 0, &region));
    return region;
  }
};

TEST_F(CapiRegion, ClosingEndsTheSubtree) {
  const ebb_region outer = open(0, "outer"), inner = open(outer, "inner");
  const ebb_handle a = create(1, outer), b = create(1, inner), c = create(1);
  EXPECT_OK(ebb_region_close(context, outer));
  EXPECT_OK(ebb_region_close(context, outer)) << "twice is harmless";
  EXPECT_OK(ebb_region_close(context, inner));
  EXPECT_TRUE(stale(a));
  EXPECT_TRUE(stale(b));
  EXPECT_FALSE(stale(c));
  EXPECT_EQ(read().region_ended, 2u);
}

TEST_F(CapiRegion, TheRootStays) {
  EXPECT_STATUS(ebb_region_close(context, root()), EBB_WRONG_STATE);
  EXPECT_STATUS(ebb_region_close(context, 0), EBB_INVALID_ARGUMENT);
}

TEST_F(CapiRegion, AttachAndMove) {
  const ebb_region outer = open(), inner = open(outer);
  const ebb_handle handle = create(1, inner);
  EXPECT_OK(ebb_region_move_to_parent(context, handle));
  EXPECT_EQ(describe(handle).region, outer);
  EXPECT_OK(ebb_region_attach(context, inner, handle));
  EXPECT_EQ(describe(handle).region, inner);
  EXPECT_OK(ebb_region_attach(context, 0, handle));
  EXPECT_EQ(describe(handle).region, root());
  EXPECT_OK(ebb_region_move_to_parent(context, handle)) << "the root has none: it stays";
  EXPECT_OK(ebb_region_close(context, outer));
  EXPECT_FALSE(stale(handle));
}

TEST_F(CapiRegion, ShortestLivedDoesNotDependOnOrder) {
  const ebb_region outer = open(), inner = open(outer);
  const ebb_handle both[] = {create(1, outer), create(1, inner)};
  const ebb_handle swapped[] = {both[1], both[0]};
  ebb_region region = 0;
  EXPECT_OK(ebb_region_shortest_lived(context, both, 2, &region));
  EXPECT_EQ(region, inner);
  EXPECT_OK(ebb_region_shortest_lived(context, swapped, 2, &region));
  EXPECT_EQ(region, inner);
  EXPECT_OK(ebb_region_shortest_lived(context, nullptr, 0, &region));
  EXPECT_EQ(region, root());
  EXPECT_EQ(ebb_region_shortest_lived(context, nullptr, 1, &region), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_region_shortest_lived(context, both, 2, nullptr), EBB_INVALID_ARGUMENT);
  const ebb_handle forged[] = {both[0], 99};
  EXPECT_STATUS(ebb_region_shortest_lived(context, forged, 2, &region), EBB_STALE_HANDLE);
}

TEST_F(CapiRegion, StaleAndForgedNames) {
  const ebb_region closed = open();
  EXPECT_OK(ebb_region_close(context, closed));
  const ebb_handle handle = create(1);
  ebb_region made = 0;
  for (const ebb_region name : {closed, uint64_t{7}, UINT64_MAX}) {
    EXPECT_STATUS(ebb_region_open(context, name, nullptr, &made), EBB_STALE_HANDLE);
    EXPECT_STATUS(ebb_region_attach(context, name, handle), EBB_STALE_HANDLE);
  }
  EXPECT_STATUS(ebb_region_close(context, 7), EBB_STALE_HANDLE);
  EXPECT_EQ(ebb_region_open(context, 0, nullptr, nullptr), EBB_INVALID_ARGUMENT);
}

TEST_F(CapiRegion, OfAnotherContext) {
  TestHost other;
  const ebb_context_options options = other.options("other");
  ebb_context second = 0;
  ASSERT_OK(ebb_context_create(&options, &second));
  ebb_region theirs = 0;
  ASSERT_OK(ebb_region_open(second, 0, nullptr, &theirs));
  EXPECT_STATUS(ebb_region_close(context, theirs), EBB_STALE_HANDLE);
  EXPECT_STATUS(ebb_region_attach(context, theirs, create(1)), EBB_STALE_HANDLE);
  EXPECT_OK(ebb_context_destroy(second));
}

}  // namespace
