// Regions as the host sees them: by name, one call each.
#include <mutex>
#include <optional>

#include "ebb/base/error.hpp"
#include "ebb/tensor/context.hpp"
#include "tensor/context_body.hpp"
#include "tensor/end_batch.hpp"
#include "tensor/visit.hpp"

namespace ebb {
namespace {

constexpr int kMostSteps = 512;  // regions and lent tensors in one go under the lock

}  // namespace

RegionId ContextBody::root(ContextId context) {
  Lock lock = enter(context, "root");
  return region(lock, 0, "root").name();
}

RegionId ContextBody::open(ContextId context, RegionId parent, std::string_view label) {
  const SiteId site = SiteTable::instance().intern(label);
  Lock lock = enter(context, "open");
  Region& above = region(lock, parent, "open");
  return regions_->open(above, site).name();
}

bool ContextBody::close(ContextId context, RegionId id) {
  Lock lock = enter(context, "close");
  if (regions_->find(id) == nullptr && regions_->has_ended(id)) return false;
  if (id == 0) {
    refuse(lock, ErrorKind::kInvalidArgument, "[close] a region's name is needed");
  }
  Region& closing = region(lock, id, "close");
  if (&closing == &regions_->root()) {
    refuse(lock, ErrorKind::kWrongState, "[close] the root ends with its context only");
  }
  end_region(lock, closing, Reason::kRegion);
  return true;
}

// A batch at a time.
void ContextBody::end_region(Lock& lock, Region& closing, Reason reason) {
  Visit visit(*this, lock);
  regions_->begin_close(closing);
  for (Region* doomed = &closing;;) {
    ManyEnds batch;
    doomed = fill(batch, doomed, reason);
    Host* const host = host_;
    if (doomed == nullptr && !batch.tells_host()) visit.leave(lock);
    lock.unlock();
    batch.carry_out(host);
    if (doomed == nullptr) return;
    lock.lock();
  }
}

// Lent tensors go back where they came from, unless the context is ending. Returns where to go on.
Region* ContextBody::fill(EndBatch& batch, Region* doomed, Reason reason) noexcept {
  for (int steps = 0; doomed != nullptr && !batch.full() && steps < kMostSteps; ++steps) {
    if (Region* below = RegionTree::next_doomed(*doomed)) {
      doomed = below;
      continue;
    }
    Owned* owned = RegionTree::take_owned(*doomed);
    if (owned == nullptr) {
      doomed = regions_->finish(*doomed);
      continue;
    }
    Region* home = owned->return_to == 0 || closed() ? nullptr : regions_->find(owned->return_to);
    owned->return_to = 0;
    if (home != nullptr) {
      RegionTree::link(*home, *owned);
    } else {
      end_unlinked(static_cast<TensorRecord&>(*owned), reason, batch);
    }
  }
  return doomed;
}

void ContextBody::end_root() {
  for (bool more = true; more;) {
    ManyEnds batch;
    Lock lock(lock_);
    Owned* owned = nullptr;
    while (!batch.full() && (owned = RegionTree::take_owned(regions_->root())) != nullptr) {
      end_unlinked(static_cast<TensorRecord&>(*owned), Reason::kShutdown, batch);
    }
    more = owned != nullptr || batch.full();
    carry_out(lock, batch);
  }
}

void ContextBody::attach(ContextId context, RegionId id, Handle handle) {
  Lock lock = enter(context, "attach");
  Region& to = open_to(lock, id, "attach");
  RegionTree::move(to, live(lock, handle, "attach"));
}

void ContextBody::attach_temporarily(ContextId context, RegionId id, Handle handle) {
  Lock lock = enter(context, "attach_temporarily");
  Region& to = open_to(lock, id, "attach_temporarily");
  TensorRecord& record = live(lock, handle, "attach_temporarily");
  // Lent on, it still goes back to where it was first.
  const RegionId home =
      record.return_to != 0 ? record.return_to : region_or_root(*record.region).name();
  RegionTree::move(to, record);
  record.return_to = home;
}

void ContextBody::detach(ContextId context, Handle handle) {
  Lock lock = enter(context, "detach");
  TensorRecord& record = live(lock, handle, "detach");
  RegionTree::move(regions_->root(), record);
}

void ContextBody::move_to_parent(ContextId context, Handle handle) {
  Lock lock = enter(context, "move_to_parent");
  TensorRecord& record = live(lock, handle, "move_to_parent");
  Region& from = region_or_root(*record.region);
  if (from.parent != nullptr) RegionTree::move(*from.parent, record);
}

// A region that is being closed is no longer part of the tree: what is still in it counts as the
// root's.
Region& ContextBody::region_or_root(Region& region) noexcept {
  return region.live() ? region : regions_->root();
}

void ContextBody::cap(ContextId context, RegionId id) {
  Lock lock = enter(context, "cap");
  region(lock, id, "cap").capped = true;
}

RegionId ContextBody::shortest_lived(ContextId context, std::span<const Handle> handles) {
  Lock lock = enter(context, "shortest_lived");
  Region* shortest = &region(lock, 0, "shortest_lived");
  for (const Handle handle : handles) {
    Region& owner = region_or_root(*live(lock, handle, "shortest_lived").region);
    shortest = &RegionTree::shorter_lived(*shortest, owner);
  }
  return shortest->name();
}

RegionInfo ContextBody::describe_region(ContextId context, RegionId id) {
  Lock lock = enter(context, "describe_region");
  const Region& found = region(lock, id, "describe_region");
  return {.parent = found.parent_name(),
          .depth = found.depth,
          .tensors = found.owned_count,
          .children = found.child_count,
          .capped = found.capped};
}

}  // namespace ebb
