#include "memory/region.hpp"

#include "ebb/base/error.hpp"

namespace ebb {

RegionTree::RegionTree() {
  root_ = &acquire();
  *static_cast<Owned*>(&root_->owned) = {&root_->owned, &root_->owned, root_, 0};
  root_->parent = root_->first_child = nullptr;
  root_->owned_count = root_->child_count = 0;
  root_->opened = ++opened_;
  root_->depth = 0;
  root_->label = 0;
  root_->capped = false;
}

RegionTree::~RegionTree() {
  EBB_CHECK(root_->first_child == nullptr && root_->owned_count == 0);
  regions_.release(*root_);
}

Region& RegionTree::acquire() {
  try {
    return regions_.acquire();
  } catch (const NoRecord&) {
    throw OutOfMemory(
        fmt::format("[open] no name is left for one more region: {} are open in this context, {} "
                    "are allowed in "
                    "all together, {} at a time. Close those that are not needed",
                    regions_.live(), SlotSpace<Region>::most_names(), kChunkSlots));
  }
}

Region& RegionTree::open(Region& parent, SiteId label) {
  Region& region = acquire();
  region.owned = {&region.owned, &region.owned, &region, 0};
  region.first_child = nullptr;
  region.owned_count = region.child_count = 0;
  region.opened = ++opened_;
  region.depth = parent.depth + 1;
  region.label = label;
  region.capped = false;
  adopt_child(parent, region);
  return region;
}

void RegionTree::adopt_child(Region& parent, Region& child) noexcept {
  child.parent = &parent;
  child.prev_sibling = nullptr;
  child.next_sibling = parent.first_child;
  if (parent.first_child != nullptr) parent.first_child->prev_sibling = &child;
  parent.first_child = &child;
  ++parent.child_count;
}

void RegionTree::drop_child(Region& child) noexcept {
  Region& parent = *child.parent;
  if (child.prev_sibling != nullptr) {
    child.prev_sibling->next_sibling = child.next_sibling;
  } else {
    parent.first_child = child.next_sibling;
  }
  if (child.next_sibling != nullptr) child.next_sibling->prev_sibling = child.prev_sibling;
  --parent.child_count;
}

// The name goes stale now; the slot itself is recycled by `finish`.
void RegionTree::doom(Region& region) noexcept { SlotTable<Region>::end(region); }

void RegionTree::begin_close(Region& region) noexcept {
  EBB_ASSERT(&region != root_);
  drop_child(region);
  region.parent = nullptr;
  doom(region);
}

Region* RegionTree::next_doomed(Region& doomed) noexcept {
  Region* below = doomed.first_child;
  if (below != nullptr) doom(*below);
  return below;
}

Owned* RegionTree::take_owned(Region& doomed) noexcept {
  Owned* owned = doomed.owned.next;
  if (owned == &doomed.owned) return nullptr;
  __builtin_prefetch(owned->next->next);
  unlink(*owned);
  return owned;
}

Region* RegionTree::finish(Region& doomed) noexcept {
  EBB_ASSERT(doomed.owned_count == 0 && doomed.first_child == nullptr);
  Region* above = doomed.parent;
  if (above != nullptr) drop_child(doomed);
  regions_.recycle(doomed);
  return above;
}

std::uint64_t RegionTree::owned_count() noexcept {
  std::uint64_t sum = 0;
  for (std::size_t c = 0; c < chunk_end(); ++c) {
    for (const Region& region : regions_.chunk(c)) sum += region.owned_count;
  }
  return sum;
}

Region& RegionTree::shorter_lived(Region& a, Region& b) noexcept {
  if (a.depth != b.depth) return a.depth > b.depth ? a : b;
  return a.opened > b.opened ? a : b;
}

}  // namespace ebb
