// Regions as the host sees them: by name, one call each.
#include <mutex>
#include <optional>

#include "ebb/base/error.hpp"
#include "ebb/tensor/context.hpp"
#include "tensor/context_state.hpp"
#include "tensor/end_batch.hpp"
#include "tensor/visit.hpp"

namespace ebb {

RegionId Context::root() {
  std::unique_lock lock(lock_);
  return region(lock, 0, "root").name();
}

RegionId Context::open(RegionId parent, std::string_view label) {
  const SiteId site = SiteTable::instance().intern(label);
  std::unique_lock lock(lock_);
  Region& above = region(lock, parent, "open");
  return regions_->open(above, site).name();
}

bool Context::close(RegionId id) {
  std::unique_lock lock(lock_);
  if (regions_ != nullptr && regions_->find(id) == nullptr && regions_->has_ended(id)) return false;
  if (id == 0) {
    lock.unlock();
    raise(ErrorKind::kInvalidArgument, "[close] a region's name is needed");
  }
  Region& closing = region(lock, id, "close");
  if (&closing == &regions_->root()) {
    lock.unlock();
    raise(ErrorKind::kWrongState, "[close] the root ends with its context only");
  }
  end_doomed(lock, regions_->begin_close(closing), Reason::kRegion);
  return true;
}

// Ends what the doomed regions own, a batch at a time.
void Context::end_doomed(Lock& lock, Region* doomed, Reason reason) {
  Visit visit(*this, lock);
  while (true) {
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

// Lent tensors go back where they came from, unless the context is ending. Returns what is left.
Region* Context::fill(EndBatch& batch, Region* doomed, Reason reason) noexcept {
  while (doomed != nullptr && !batch.full()) {
    Owned* owned = RegionTree::take_owned(*doomed);
    if (owned == nullptr) {
      doomed = regions_->finish(*doomed);
      continue;
    }
    Region* home = owned->return_to == 0 || closed_ ? nullptr : regions_->find(owned->return_to);
    owned->return_to = 0;
    if (home != nullptr) {
      RegionTree::link(*home, *owned);
    } else {
      end_unlinked(static_cast<TensorRecord&>(*owned), reason, batch);
    }
  }
  return doomed;
}

void Context::end_root() {
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

void Context::attach(RegionId id, Handle handle) {
  std::unique_lock lock(lock_);
  Region& to = open_to(lock, id, "attach");
  RegionTree::move(to, live(lock, handle, "attach"));
}

void Context::attach_temporarily(RegionId id, Handle handle) {
  std::unique_lock lock(lock_);
  Region& to = open_to(lock, id, "attach_temporarily");
  TensorRecord& record = live(lock, handle, "attach_temporarily");
  // Lent on, it still goes back to where it was first.
  const RegionId home = record.return_to != 0 ? record.return_to : settled(*record.region).name();
  RegionTree::move(to, record);
  record.return_to = home;
}

void Context::detach(Handle handle) {
  std::unique_lock lock(lock_);
  TensorRecord& record = live(lock, handle, "detach");
  RegionTree::move(regions_->root(), record);
}

void Context::move_to_parent(Handle handle) {
  std::unique_lock lock(lock_);
  TensorRecord& record = live(lock, handle, "move_to_parent");
  Region& from = settled(*record.region);
  if (from.parent != nullptr) RegionTree::move(*from.parent, record);
}

// A region that is being closed is no longer part of the tree: what is still in it counts as the
// root's.
Region& Context::settled(Region& region) noexcept {
  return region.live() ? region : regions_->root();
}

void Context::cap(RegionId id) {
  std::unique_lock lock(lock_);
  region(lock, id, "cap").capped = true;
}

RegionId Context::shortest_lived(std::span<const Handle> handles) {
  std::unique_lock lock(lock_);
  Region* shortest = &region(lock, 0, "shortest_lived");
  for (const Handle handle : handles) {
    Region& owner = settled(*live(lock, handle, "shortest_lived").region);
    shortest = &RegionTree::shorter_lived(*shortest, owner);
  }
  return shortest->name();
}

RegionInfo Context::describe_region(RegionId id) {
  std::unique_lock lock(lock_);
  const Region& found = region(lock, id, "describe_region");
  return {.parent = found.parent == nullptr ? 0 : found.parent->name(),
          .depth = found.depth,
          .tensors = found.owned_count,
          .children = found.child_count,
          .capped = found.capped};
}

}  // namespace ebb
