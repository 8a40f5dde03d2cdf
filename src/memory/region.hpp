// The ownership tree of one context.
//
// What a region owns derives from Owned and hangs in the region's list: attach, detach and the end
// of a tensor by any other way are a few pointer stores, and leave nothing behind in the region.
// Closing is in many steps, so that ending a million tensors or a million regions does not hold the
// owner's lock for all of them: `begin_close` takes the subtree out of the tree, `next_doomed` goes
// down to a region without regions below it, the owner empties that with `take_owned` and gives it
// back with `finish`, which goes up again. The names of the regions on the way are stale, so nobody
// else comes near them between two steps; one further below is open until it is come to.
//
// Threads: all under the owner's lock.
#pragma once

#include <cstdint>
#include <span>

#include "ebb/memory/names.hpp"
#include "memory/slot_table.hpp"

namespace ebb {

struct Region;

struct Owned {
  Owned* prev = nullptr;
  Owned* next = nullptr;
  Region* region = nullptr;
  RegionId return_to = 0;  // lent by that region until this one closes; 0: not lent
};

struct Region : SlotHeader<Region> {
  Region* parent = nullptr;
  Region* first_child = nullptr;
  Region* next_sibling = nullptr;
  Region* prev_sibling = nullptr;
  Owned owned;  // head of a circular list
  std::uint64_t owned_count = 0;
  std::uint64_t child_count = 0;
  std::uint64_t opened = 0;  // ordinal within the tree
  std::uint32_t depth = 0;
  SiteId label = 0;
  bool capped = false;

  // 0: it is the root, or the region above is being closed.
  RegionId parent_name() const noexcept {
    return parent == nullptr || !parent->live() ? 0 : parent->name();
  }
};

class RegionTree {
 public:
  RegionTree();
  ~RegionTree();
  RegionTree(const RegionTree&) = delete;
  RegionTree& operator=(const RegionTree&) = delete;

  Region& root() noexcept { return *root_; }
  Region* find(RegionId id) const noexcept { return regions_.find(id); }
  bool has_ended(RegionId id) const noexcept { return regions_.has_ended(id); }
  std::size_t open_count() const noexcept { return regions_.live() - 1; }  // without the root
  std::size_t bytes() const noexcept { return regions_.bytes(); }          // of their records

  // Throws OutOfMemory if there are too many, std::bad_alloc; then nothing has changed.
  Region& open(Region& parent, SiteId label);
  // Pre: not the root. From now on the region is doomed: its name is stale.
  void begin_close(Region& region) noexcept;
  // A region below the doomed one, which is doomed now and comes first; null: there is none.
  static Region* next_doomed(Region& doomed) noexcept;
  // The next thing a doomed region owns, unlinked; null when it is empty.
  static Owned* take_owned(Region& doomed) noexcept;
  // Pre: empty, nothing below it. Frees the record; returns the one above, null: the closing ends.
  Region* finish(Region& doomed) noexcept;

  static void link(Region& region, Owned& owned) noexcept;
  static void unlink(Owned& owned) noexcept;
  static void move(Region& region, Owned& owned) noexcept;

  // Of two regions the one that ends first: the deeper, or of equals the one opened last.
  static Region& shorter_lived(Region& a, Region& b) noexcept;

  // The regions in pieces, for readers that give the lock back between them.
  static std::size_t chunk_end() noexcept { return SlotTable<Region>::chunk_end(); }
  template <typename Visit>
  void for_each_in(std::size_t chunk, Visit&& visit) {
    for (Region& region : regions_.chunk(chunk)) {
      if (region.live()) visit(region);
    }
  }
  // In all regions, those being closed too.
  std::uint64_t owned_count() noexcept;

 private:
  Region& acquire();
  void adopt_child(Region& parent, Region& child) noexcept;
  static void drop_child(Region& child) noexcept;
  static void doom(Region& region) noexcept;

  SlotTable<Region> regions_;
  Region* root_ = nullptr;
  std::uint64_t opened_ = 0;
};

inline void RegionTree::link(Region& region, Owned& owned) noexcept {
  Owned& head = region.owned;
  owned.prev = &head;
  owned.next = head.next;
  head.next->prev = &owned;
  head.next = &owned;
  owned.region = &region;
  ++region.owned_count;
}

inline void RegionTree::unlink(Owned& owned) noexcept {
  owned.prev->next = owned.next;
  owned.next->prev = owned.prev;
  --owned.region->owned_count;
  owned.region = nullptr;
}

inline void RegionTree::move(Region& region, Owned& owned) noexcept {
  unlink(owned);
  owned.return_to = 0;
  link(region, owned);
}

}  // namespace ebb
