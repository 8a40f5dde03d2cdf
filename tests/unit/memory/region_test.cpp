#include "memory/region.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace ebb {
namespace {

// What went with a region, and in which order.
struct Closed {
  std::vector<std::uint64_t> opened;  // ordinals
  std::size_t owned = 0;
};
Closed finish_all(RegionTree& tree, Region* doomed) {
  Closed closed;
  while (doomed != nullptr) {
    if (Region* below = RegionTree::next_doomed(*doomed)) {
      doomed = below;
      continue;
    }
    while (RegionTree::take_owned(*doomed) != nullptr) ++closed.owned;
    closed.opened.push_back(doomed->opened);
    doomed = tree.finish(*doomed);
  }
  return closed;
}
Closed close_all(RegionTree& tree, Region& region) {
  tree.begin_close(region);
  return finish_all(tree, &region);
}

TEST(RegionTree, StartsWithARootOnly) {
  RegionTree tree;
  EXPECT_EQ(tree.open_count(), 0u);
  EXPECT_EQ(tree.root().depth, 0u);
  EXPECT_EQ(tree.root().parent, nullptr);
  EXPECT_EQ(tree.find(tree.root().name()), &tree.root());
}

TEST(RegionTree, OpensBelowAParent) {
  RegionTree tree;
  Region& a = tree.open(tree.root(), 5);
  Region& b = tree.open(a, 0);
  EXPECT_EQ(a.label, 5u);
  EXPECT_EQ(b.parent, &a);
  EXPECT_EQ(b.depth, 2u);
  EXPECT_EQ(tree.root().child_count, 1u);
  EXPECT_EQ(tree.open_count(), 2u);
  const RegionId name = b.name();
  close_all(tree, a);
  EXPECT_EQ(tree.find(name), nullptr);
  EXPECT_TRUE(tree.has_ended(name));
  EXPECT_EQ(tree.open_count(), 0u);
}

TEST(RegionTree, ClosesChildrenBeforeTheirParents) {
  RegionTree tree;
  Region& top = tree.open(tree.root(), 0);
  Region& left = tree.open(top, 0);
  Region& right = tree.open(top, 0);
  Region& leaf = tree.open(left, 0);
  const std::vector<std::uint64_t> in_order{right.opened, leaf.opened, left.opened, top.opened};
  EXPECT_EQ(close_all(tree, top).opened, in_order);
  EXPECT_EQ(tree.root().first_child, nullptr);
}

TEST(RegionTree, ClosingOneLeavesItsSiblings) {
  RegionTree tree;
  std::vector<Region*> siblings;
  for (int i = 0; i < 3; ++i) siblings.push_back(&tree.open(tree.root(), 0));
  for (const int at : {1, 2, 0}) {  // the middle, then the ends of the list
    close_all(tree, *siblings[at]);
    std::size_t count = 0;
    for (Region* child = tree.root().first_child; child != nullptr; child = child->next_sibling)
      ++count;
    EXPECT_EQ(count, tree.root().child_count);
    EXPECT_EQ(count, tree.open_count());
  }
}

TEST(RegionTree, TheNamesGoStaleBeforeTheContentsEnd) {
  RegionTree tree;
  Region& region = tree.open(tree.root(), 0);
  Owned owned;
  RegionTree::link(region, owned);
  const RegionId name = region.name();
  tree.begin_close(region);
  EXPECT_EQ(tree.find(name), nullptr);
  EXPECT_EQ(region.owned_count, 1u);
  EXPECT_EQ(finish_all(tree, &region).owned, 1u);
}

// Beginning to close costs the same however much is below; what is below is open until it is come
// to, and then nobody finds it any more.
TEST(RegionTree, WhatIsBelowADoomedRegionIsOpenUntilItIsComeTo) {
  RegionTree tree;
  Region& top = tree.open(tree.root(), 0);
  Region& below = tree.open(top, 0);
  const RegionId name = below.name();
  EXPECT_EQ(below.parent_name(), top.name());
  tree.begin_close(top);
  EXPECT_EQ(tree.find(name), &below);
  EXPECT_EQ(below.parent_name(), 0u);
  Region& late = tree.open(below, 0);
  EXPECT_EQ(RegionTree::next_doomed(top), &below);
  EXPECT_EQ(tree.find(name), nullptr);
  // Closed by its own name meanwhile: that part is gone when the rest is come to.
  close_all(tree, late);
  EXPECT_EQ(finish_all(tree, &below).opened.size(), 2u);
  EXPECT_EQ(tree.open_count(), 0u);
}

TEST(RegionTree, OwnedThingsComeAndGo) {
  RegionTree tree;
  Region& a = tree.open(tree.root(), 0);
  Region& b = tree.open(tree.root(), 0);
  Owned x, y;
  RegionTree::link(a, x);
  RegionTree::link(a, y);
  x.return_to = b.name();
  RegionTree::move(b, x);
  EXPECT_EQ(x.region, &b);
  EXPECT_EQ(x.return_to, 0u);
  EXPECT_EQ(a.owned_count, 1u);
  EXPECT_EQ(b.owned_count, 1u);
  RegionTree::unlink(y);
  EXPECT_EQ(a.owned_count, 0u);
  EXPECT_EQ(RegionTree::take_owned(a), nullptr);
  EXPECT_EQ(RegionTree::take_owned(b), &x);
  close_all(tree, a);
  close_all(tree, b);
}

TEST(RegionTree, AChainOfAHundredThousandClosesWithoutRecursion) {
  constexpr std::uint32_t kDeep = 100000;
  RegionTree tree;
  Region* at = &tree.root();
  Region* top = nullptr;
  for (std::uint32_t i = 0; i < kDeep; ++i) {
    at = &tree.open(*at, 0);
    if (top == nullptr) top = at;
  }
  EXPECT_EQ(at->depth, kDeep);
  const Closed closed = close_all(tree, *top);
  EXPECT_EQ(closed.opened.size(), kDeep);
  EXPECT_TRUE(std::is_sorted(closed.opened.rbegin(), closed.opened.rend()));
  EXPECT_EQ(tree.open_count(), 0u);
}

TEST(RegionTree, AWideTreeClosesToo) {
  RegionTree tree;
  Region& top = tree.open(tree.root(), 0);
  for (int i = 0; i < 5000; ++i) tree.open(top, 0);
  EXPECT_EQ(close_all(tree, top).opened.size(), 5001u);
}

TEST(RegionTree, TheDeeperOrElseTheYoungerEndsFirst) {
  RegionTree tree;
  Region& old = tree.open(tree.root(), 0);
  Region& young = tree.open(tree.root(), 0);
  Region& deep = tree.open(old, 0);
  EXPECT_EQ(&RegionTree::shorter_lived(old, young), &young);
  EXPECT_EQ(&RegionTree::shorter_lived(young, old), &young);
  EXPECT_EQ(&RegionTree::shorter_lived(young, deep), &deep);
  EXPECT_EQ(&RegionTree::shorter_lived(tree.root(), old), &old);
  EXPECT_EQ(&RegionTree::shorter_lived(old, old), &old);
  close_all(tree, old);
  close_all(tree, young);
}

TEST(RegionTree, CountsWhatIsOwnedAlsoWhileARegionCloses) {
  RegionTree tree;
  Region& a = tree.open(tree.root(), 0);
  Owned x, y, z;
  RegionTree::link(a, x);
  RegionTree::link(tree.open(a, 0), y);
  RegionTree::link(tree.root(), z);
  tree.begin_close(a);
  EXPECT_EQ(tree.owned_count(), 3u);
  finish_all(tree, &a);
  EXPECT_EQ(tree.owned_count(), 1u);
  RegionTree::unlink(z);
}

TEST(RegionTreeDeathTest, ATreeThatOwnsSomethingDoesNotEnd) {
  EXPECT_DEATH(
      {
        Owned owned;
        RegionTree tree;
        RegionTree::link(tree.root(), owned);
      },
      "owned_count");
}

// Records come from a stock that all trees share, with what their last region left in them.
TEST(RegionTree, ARootIsARootWhateverItsRecordWasBefore) {
  RegionTree before;
  Region* below = &before.root();
  for (int i = 0; i < 5000; ++i) {
    below = &before.open(*below, 7);
    below->capped = true;
  }
  close_all(before, *before.root().first_child);
  std::vector<std::unique_ptr<RegionTree>> trees;
  for (int i = 0; i < 8; ++i) {
    RegionTree& tree = *trees.emplace_back(std::make_unique<RegionTree>());
    EXPECT_EQ(tree.root().parent, nullptr);
    EXPECT_EQ(tree.root().first_child, nullptr);
    EXPECT_EQ(tree.root().depth, 0u);
    EXPECT_EQ(tree.root().label, 0u);
    EXPECT_FALSE(tree.root().capped);
    EXPECT_EQ(tree.root().owned_count + tree.root().child_count, 0u);
    Region& first = tree.open(tree.root(), 0);
    EXPECT_EQ(first.owned_count + first.child_count, 0u);
    EXPECT_FALSE(first.capped);
    close_all(tree, first);
  }
}

}  // namespace
}  // namespace ebb
