// A plain model of a context: what its tensors, regions, orphans and books must be, written with
// maps and without any of the tricks.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "ebb/tensor/context.hpp"

namespace ebb::model {

// Bytes in use by device, over all contexts.
using InUse = std::map<const Device*, std::uint64_t>;

struct ModelContext;

struct ModelStorage {
  ModelContext* context = nullptr;  // null once that has ended
  Device* device = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t key = 0;
  std::uint64_t tensors = 0;
  std::uint64_t holds = 0;
  bool foreign() const { return device->foreign(); }
};
using StoragePtr = std::shared_ptr<ModelStorage>;

struct ModelTensor {
  StoragePtr storage;
  bool strided = false;
  RegionId region = 0;
  RegionId return_to = 0;
  bool watched = true;
  bool noticed = false;
};

struct ModelRegion {
  RegionId parent = 0;
  std::uint32_t depth = 0;
  std::uint64_t opened = 0;
  bool capped = false;
  std::set<RegionId> children{};
  std::set<Handle> tensors{};
};

// The columns that are counted; the live ones are summed up when they are compared.
struct ModelBooks {
  std::uint64_t created = 0, created_storages = 0, created_bytes = 0;
  std::array<std::uint64_t, kReasons> ended{}, ended_bytes{};
};

struct ModelContext {
  RegionId root = 0;
  std::map<Handle, ModelTensor> tensors;
  std::map<RegionId, ModelRegion> regions;
  std::map<std::pair<DeviceId, std::uint64_t>, StoragePtr> keys;
  std::map<const Device*, ModelBooks> books;
  std::map<const Device*, Tally> held;
  std::set<Handle> queued, waiting;
  bool anything_queued = false;  // also what has ended since
  std::uint64_t opened = 0;
  InUse* in_use = nullptr;
  // What the last call must have told the host, and given back.
  std::vector<std::pair<Handle, Reason>> told;
  std::uint64_t told_last = 0;
  Drained drained;

  explicit ModelContext(RegionId root_id, InUse& bytes) : root(root_id), in_use(&bytes) {
    regions[root].opened = ++opened;
  }

  // ---- birth

  StoragePtr new_storage(Device& device, std::uint64_t bytes, std::uint64_t key) {
    auto storage = std::make_shared<ModelStorage>();
    *storage = {.context = this, .device = &device, .bytes = bytes, .key = key};
    if (key != 0) keys[{device.id(), key}] = storage;
    ModelBooks& book = books[&device];
    ++book.created_storages;
    book.created_bytes += bytes;
    (*in_use)[&device] += bytes;
    return storage;
  }
  void born(Handle handle, StoragePtr storage, RegionId region, bool watched) {
    ++storage->tensors;
    ++books[storage->device].created;
    regions.at(region).tensors.insert(handle);
    tensors[handle] = {.storage = std::move(storage), .region = region, .watched = watched};
  }
  void rebook(Handle handle, Device& to, std::uint64_t bytes) {
    StoragePtr storage = tensors.at(handle).storage;
    ModelBooks &from = books[storage->device], &into = books[&to];
    --from.created_storages, ++into.created_storages;
    from.created_bytes -= storage->bytes, into.created_bytes += bytes;
    from.created -= storage->tensors, into.created += storage->tensors;
    (*in_use)[storage->device] -= storage->bytes;
    (*in_use)[&to] += bytes;
    if (storage->key != 0) {
      keys.erase({storage->device->id(), storage->key});
      keys[{to.id(), storage->key}] = storage;
    }
    storage->device = &to;
    storage->bytes = bytes;
  }

  // Memory of its own for a strided tensor; what it shared may end with that.
  void make_dense(Handle handle, std::uint64_t bytes) {
    ModelTensor& tensor = tensors.at(handle);
    const StoragePtr old = tensor.storage;
    tensor.storage = new_storage(*old->device, bytes, 0);
    tensor.storage->tensors = 1;
    tensor.strided = false;
    if (--old->tensors == 0) end_storage(*old, Reason::kDisposed);
  }

  // ---- end

  void end(Handle handle, Reason reason) {
    const ModelTensor tensor = tensors.at(handle);
    ModelStorage& storage = *tensor.storage;
    if (const auto region = regions.find(tensor.region); region != regions.end()) {
      region->second.tensors.erase(handle);
    }
    tensors.erase(handle);
    queued.erase(handle);
    waiting.erase(handle);
    const auto why = static_cast<std::size_t>(reason);
    ++books[storage.device].ended[why];
    ++drained.tensors;
    const bool tells = storage.foreign() && reason != Reason::kDisposed;
    if (tells) told.emplace_back(handle, reason);
    if (--storage.tensors != 0) return;
    if (tells) ++told_last;
    end_storage(storage, reason);
  }
  void end_storage(ModelStorage& storage, Reason reason) {
    if (storage.key != 0) keys.erase({storage.device->id(), storage.key});
    books[storage.device].ended_bytes[static_cast<std::size_t>(reason)] += storage.bytes;
    if (storage.holds != 0) return held[storage.device].add(storage.bytes);
    drained.bytes += storage.bytes;
    (*in_use)[storage.device] -= storage.bytes;
  }
  void end_all() {
    while (!tensors.empty()) end(tensors.begin()->first, Reason::kShutdown);
  }

  // ---- regions

  void open(RegionId id, RegionId parent) {
    ModelRegion& above = regions.at(parent);
    above.children.insert(id);
    regions[id] = {.parent = parent, .depth = above.depth + 1, .opened = ++opened};
  }
  void close(RegionId id) {
    regions.at(regions.at(id).parent).children.erase(id);
    std::vector<Handle> inside;
    take_subtree(id, inside);
    for (const Handle handle : inside) {
      const RegionId home = tensors.at(handle).return_to;
      if (home != 0 && regions.contains(home)) {
        move(handle, home);
      } else {
        end(handle, Reason::kRegion);
      }
    }
  }
  void take_subtree(RegionId id, std::vector<Handle>& inside) {
    const ModelRegion region = regions.at(id);
    regions.erase(id);
    inside.insert(inside.end(), region.tensors.begin(), region.tensors.end());
    for (const RegionId child : region.children) take_subtree(child, inside);
  }
  void move(Handle handle, RegionId to) {
    ModelTensor& tensor = tensors.at(handle);
    if (const auto from = regions.find(tensor.region); from != regions.end()) {
      from->second.tensors.erase(handle);
    }
    regions.at(to).tensors.insert(handle);
    tensor.region = to;
    tensor.return_to = 0;
  }
  void lend(Handle handle, RegionId to) {
    const ModelTensor& tensor = tensors.at(handle);
    const RegionId home = tensor.return_to != 0 ? tensor.return_to : tensor.region;
    move(handle, to);
    tensors.at(handle).return_to = home;
  }
  RegionId shortest_lived(const std::vector<Handle>& handles) const {
    RegionId shortest = root;
    for (const Handle handle : handles) {
      const RegionId other = tensors.at(handle).region;
      const ModelRegion &a = regions.at(shortest), &b = regions.at(other);
      if (std::pair(b.depth, b.opened) > std::pair(a.depth, a.opened)) shortest = other;
    }
    return shortest;
  }

  // ---- reclaim

  void orphan(Handle handle) {
    const auto found = tensors.find(handle);
    if (found == tensors.end() || found->second.noticed) return;
    found->second.noticed = true;
    queued.insert(handle);
    anything_queued = true;
  }
  void take_notices() {
    waiting.insert(queued.begin(), queued.end());
    queued.clear();
    anything_queued = false;
  }
  // What `foreign_too` says of a safe point; a birth drains Ebb's own only.
  void drain(bool reclaiming, bool foreign_too) {
    take_notices();
    if (!reclaiming) return;
    const std::vector<Handle> all(waiting.begin(), waiting.end());
    for (const Handle handle : all) {
      if (foreign_too || !tensors.at(handle).storage->foreign()) end(handle, Reason::kReclaimed);
    }
  }

  // ---- the books

  Books books_of(const Device& device) {
    const ModelBooks& counted = books[&device];
    Books sum;
    sum.created = counted.created;
    sum.created_storages = {counted.created_storages, counted.created_bytes};
    sum.ended = counted.ended;
    sum.ended_bytes = counted.ended_bytes;
    sum.held = held[&device];
    std::set<const ModelStorage*> seen;
    for (const auto& [handle, tensor] : tensors) {
      if (tensor.storage->device != &device) continue;
      ++sum.live;
      sum.unwatched += tensor.watched ? 0 : 1;
      if (seen.insert(tensor.storage.get()).second) sum.storages.add(tensor.storage->bytes);
    }
    return sum;
  }
};

// A hold is let go: the memory goes if nothing else has it.
inline void release(ModelStorage& storage, InUse& in_use) {
  if (--storage.holds != 0 || storage.tensors != 0) return;
  in_use[storage.device] -= storage.bytes;
  if (storage.context != nullptr) storage.context->held[storage.device].remove(storage.bytes);
}

}  // namespace ebb::model
