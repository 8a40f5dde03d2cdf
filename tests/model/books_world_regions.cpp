// Regions, reclaim and the full comparison.
#include "model/books_world.hpp"

namespace ebb::model {

void BooksWorld::open(Pair& pair) {
  const RegionId parent = some_region(pair);
  RegionId id = 0;
  const bool known = pair.model->regions.contains(parent);
  try {
    id = pair.real->open(parent);
  } catch (const Error& error) {
    ASSERT_FALSE(known) << error.what();
    return;
  }
  ASSERT_TRUE(known);
  pair.model->open(id, parent);
  pair.regions.push_back(id);
}

void BooksWorld::close(Pair& pair) {
  const RegionId region = some_region(pair);
  const bool open = pair.model->regions.contains(region) && region != pair.model->root;
  bool closed = false;
  try {
    closed = pair.real->close(region);
  } catch (const Error& error) {
    ASSERT_EQ(region, pair.model->root) << error.what();
  }
  ASSERT_EQ(closed, open);
  if (open) pair.model->close(region);
}

void BooksWorld::attach(Pair& pair) {
  const RegionId region = some_region(pair);
  const Handle handle = some_handle(pair);
  try {
    pair.real->attach(region, handle);
  } catch (const Error& error) {
    ASSERT_FALSE(takes(pair, region) && lives(pair, handle)) << error.what();
    return;
  }
  ASSERT_TRUE(takes(pair, region) && lives(pair, handle));
  pair.model->move(handle, region);
}

void BooksWorld::lend(Pair& pair) {
  const RegionId region = some_region(pair);
  const Handle handle = some_handle(pair);
  try {
    pair.real->attach_temporarily(region, handle);
  } catch (const Error& error) {
    ASSERT_FALSE(takes(pair, region) && lives(pair, handle)) << error.what();
    return;
  }
  ASSERT_TRUE(takes(pair, region) && lives(pair, handle));
  pair.model->lend(handle, region);
}

void BooksWorld::detach(Pair& pair) {
  const Handle handle = some_handle(pair);
  if (!lives(pair, handle)) return;
  pair.real->detach(handle);
  pair.model->move(handle, pair.model->root);
}

void BooksWorld::move_up(Pair& pair) {
  const Handle handle = some_handle(pair);
  if (!lives(pair, handle)) return;
  pair.real->move_to_parent(handle);
  const RegionId parent = pair.model->regions.at(pair.model->tensors.at(handle).region).parent;
  if (parent != 0) pair.model->move(handle, parent);
}

void BooksWorld::cap(Pair& pair) {
  const RegionId region = some_region(pair);
  if (region == pair.model->root || !pair.model->regions.contains(region)) return;
  pair.real->cap(region);
  pair.model->regions.at(region).capped = true;
}

void BooksWorld::shortest(Pair& pair) {
  std::vector<Handle> handles;
  for (std::uint64_t i = pick(4); i > 0; --i) {
    const Handle handle = some_handle(pair);
    if (lives(pair, handle)) handles.push_back(handle);
  }
  ASSERT_EQ(pair.real->shortest_lived(handles), pair.model->shortest_lived(handles));
}

void BooksWorld::safe_point(Pair& pair) {
  ModelContext& model = *pair.model;
  if (model.anything_queued || (reclaiming() && !model.waiting.empty())) {
    model.drain(reclaiming(), true);
  }
  const Drained drained = pair.real->safe_point();
  ASSERT_EQ(drained.tensors, model.drained.tensors);
  ASSERT_EQ(drained.bytes, model.drained.bytes);
}

void BooksWorld::toggle(Pair&) { set_reclaim(!reclaiming()); }

void BooksWorld::reopen(Pair& pair) {
  if (!chance(20)) return;
  close_context(pair);
  open_context(pair);
}

// ---- everything

void BooksWorld::compare() {
  for (Pair& pair : pairs_) {
    compare_books(pair);
    compare_tensors(pair);
    compare_regions(pair);
  }
  for (const auto* device : {&cpu_, &wasm_, &webgl_}) {
    ASSERT_EQ((*device)->in_use(), in_use_[device->get()]) << (*device)->name();
  }
  ASSERT_NO_THROW(Context::audit());
  cpu_->pool().check();
}

void BooksWorld::compare_books(Pair& pair) {
  pair.model->take_notices();
  for (const auto* device : {&cpu_, &wasm_, &webgl_}) {
    const Books real = pair.real->memory(device->get()).books;
    const Books model = pair.model->books_of(**device);
    ASSERT_EQ(real.created, model.created);
    ASSERT_EQ(real.live, model.live);
    ASSERT_EQ(real.unwatched, model.unwatched);
    ASSERT_EQ(real.ended, model.ended);
    ASSERT_EQ(real.ended_bytes, model.ended_bytes);
    ASSERT_EQ(real.created_storages.count, model.created_storages.count);
    ASSERT_EQ(real.created_storages.bytes, model.created_storages.bytes);
    ASSERT_EQ(real.storages.count, model.storages.count);
    ASSERT_EQ(real.storages.bytes, model.storages.bytes);
    ASSERT_EQ(real.held.count, model.held.count);
    ASSERT_EQ(real.held.bytes, model.held.bytes);
    ASSERT_TRUE(real.balanced());
    ASSERT_GE(real.peak_live, real.live);
    ASSERT_GE(real.peak_bytes, real.storages.bytes);
  }
  ASSERT_EQ(pair.real->memory().orphans, pair.model->waiting.size());
}

void BooksWorld::compare_tensors(Pair& pair) {
  for (const auto& [handle, tensor] : pair.model->tensors) {
    const TensorInfo info = pair.real->describe(handle);
    ASSERT_EQ(info.region, tensor.region);
    ASSERT_EQ(info.device, tensor.storage->device);
    ASSERT_EQ(info.key, tensor.storage->key);
    ASSERT_EQ(info.orphaned, tensor.noticed);
    if (!tensor.storage->foreign()) continue;
    ASSERT_EQ(info.bytes, tensor.storage->bytes);
  }
  for (const Handle handle : pair.handles) {
    if (lives(pair, handle)) continue;
    ASSERT_THROW(pair.real->describe(handle), Error);
  }
}

void BooksWorld::compare_regions(Pair& pair) {
  ASSERT_EQ(pair.real->memory().regions, pair.model->regions.size() - 1);
  for (const auto& [id, region] : pair.model->regions) {
    const RegionInfo info = pair.real->describe_region(id);
    ASSERT_EQ(info.parent, region.parent);
    ASSERT_EQ(info.depth, region.depth);
    ASSERT_EQ(info.tensors, region.tensors.size());
    ASSERT_EQ(info.children, region.children.size());
    ASSERT_EQ(info.capped, region.capped);
  }
}

}  // namespace ebb::model
