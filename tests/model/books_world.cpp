#include "model/books_world.hpp"

namespace ebb::model {

BooksWorld::BooksWorld(std::uint64_t seed)
    : random_(seed),
      pack_(set_pack([](const Operand&, std::byte*) {})),  // simulated memory has no content
      cpu_(DeviceOptions{
          .kind = DeviceKind::kSimulated, .name = "model cpu", .capacity = 256 << 20}),
      wasm_(DeviceOptions{.kind = DeviceKind::kForeign, .name = "model wasm"}),
      webgl_(DeviceOptions{.kind = DeviceKind::kForeign, .name = "model webgl"}) {
  actions_ = {
      {&BooksWorld::make, 180},      {&BooksWorld::view, 60},       {&BooksWorld::stride, 60},
      {&BooksWorld::make_dense, 40}, {&BooksWorld::adopt, 180},     {&BooksWorld::rebook, 20},
      {&BooksWorld::dispose, 120},   {&BooksWorld::orphan, 150},    {&BooksWorld::hold, 40},
      {&BooksWorld::let_go, 40},     {&BooksWorld::open, 50},       {&BooksWorld::close, 20},
      {&BooksWorld::attach, 30},     {&BooksWorld::lend, 40},       {&BooksWorld::detach, 20},
      {&BooksWorld::move_up, 20},    {&BooksWorld::cap, 4},         {&BooksWorld::shortest, 15},
      {&BooksWorld::describe, 20},   {&BooksWorld::safe_point, 30}, {&BooksWorld::toggle, 4},
      {&BooksWorld::reopen, 1}};
  for (const auto& [action, weight] : actions_) weights_ += weight;
  for (Pair& pair : pairs_) open_context(pair);
}

BooksWorld::~BooksWorld() {
  for (Pair& pair : pairs_) close_context(pair);
  while (!holds_.empty()) let_go(pairs_[0]);
  set_reclaim(false);
  set_pack(pack_);
}

void BooksWorld::step() {
  Pair& pair = pairs_[pick(kContexts)];
  if (pair.model->tensors.size() > kMostTensors) return dispose(pair), compare_told(pair);
  std::uint64_t at = pick(weights_);
  for (const auto& [action, weight] : actions_) {
    if (at < weight) {
      (this->*action)(pair);
      break;
    }
    at -= weight;
  }
  compare_told(pair);
}

// What the host was told, against what it should have been; the bytes in use.
void BooksWorld::compare_told(Pair& pair) {
  auto& told = pair.host.ends;
  ASSERT_EQ(told.size(), pair.model->told.size());
  if (!told.empty()) {
    std::vector<std::pair<Handle, Reason>> ends;
    std::uint64_t last = 0;
    for (const ForeignEnd& end : told) {
      ends.emplace_back(end.handle, end.reason);
      last += end.last ? 1 : 0;
    }
    std::ranges::sort(ends);
    std::ranges::sort(pair.model->told);
    ASSERT_EQ(ends, pair.model->told);
    ASSERT_EQ(last, pair.model->told_last);
    told.clear();
  }
  pair.model->told.clear();
  pair.model->told_last = 0;
  pair.model->drained = {};
  ASSERT_EQ(wasm_->in_use(), in_use_[wasm_.get()]);
  ASSERT_EQ(webgl_->in_use(), in_use_[webgl_.get()]);
  if (pair.handles.size() > 4 * kMostTensors) forget_ended(pair);
}

void BooksWorld::forget_ended(Pair& pair) {
  std::erase_if(pair.handles, [&](Handle handle) { return !lives(pair, handle) && !chance(8); });
  std::erase_if(pair.regions, [&](RegionId region) {
    return !pair.model->regions.contains(region) && !chance(8);
  });
}

void BooksWorld::open_context(Pair& pair) {
  pair.real = Context::create({.name = "model", .host = &pair.host});
  pair.model = std::make_unique<ModelContext>(pair.real->root(), in_use_);
  pair.regions = {pair.model->root};
  pair.handles.clear();
}

void BooksWorld::close_context(Pair& pair) {
  pair.model->end_all();
  pair.real.reset();
  compare_told(pair);
  for (Hold& hold : holds_) {
    if (hold.storage->context == pair.model.get()) hold.storage->context = nullptr;
  }
}

template <typename Call>
bool BooksWorld::agrees(bool valid, Call&& real) {
  try {
    real();
  } catch (const Error& error) {
    EXPECT_FALSE(valid) << error.what();
    return false;
  }
  EXPECT_TRUE(valid) << "nothing was thrown";
  return valid;
}

Handle BooksWorld::some_handle(Pair& pair) {
  if (pair.handles.empty() || chance(500)) return random_() >> pick(64);  // forged
  return pair.handles[pick(pair.handles.size())];
}
RegionId BooksWorld::some_region(Pair& pair) {
  if (chance(2)) return pair.model->root;
  return pair.regions[pick(pair.regions.size())];
}
bool BooksWorld::takes(Pair& pair, RegionId region) {
  const auto found = pair.model->regions.find(region);
  return found != pair.model->regions.end() && !found->second.capped;
}

// ---- tensors

void BooksWorld::make(Pair& pair) {
  const RegionId region = some_region(pair);
  const auto elements = static_cast<std::int64_t>(chance(50) ? pick(40000) : pick(600));
  ModelContext& model = *pair.model;
  if (model.anything_queued) model.drain(reclaiming(), false);
  Handle handle = 0;
  const bool made = agrees(takes(pair, region), [&] {
    handle = pair.real->make({.device = cpu_.get(), .shape = {elements}, .region = region});
  });
  if (!made) return;
  const std::uint64_t bytes = pair.real->hold(handle).data().size();
  ASSERT_GE(bytes, static_cast<std::uint64_t>(elements) * 4);
  model.born(handle, model.new_storage(*cpu_, bytes, 0), region, true);
  keep(pair, handle);
}

void BooksWorld::view(Pair& pair) {
  const Handle base = some_handle(pair);
  const RegionId region = some_region(pair);
  const bool own = lives(pair, base) && !pair.model->tensors.at(base).storage->foreign();
  if (own && pair.model->tensors.at(base).strided) return lay_out(pair, base);  // as view would
  Handle handle = 0;
  const bool made = agrees(own && takes(pair, region), [&] {
    handle = pair.real->view(base, 0, {.shape = {0}, .region = region});
  });
  if (!made) return;
  pair.model->born(handle, pair.model->tensors.at(base).storage, region, true);
  keep(pair, handle);
}

// Every other element of three; a view of a strided one is strided too.
void BooksWorld::stride(Pair& pair) {
  const Handle base = some_handle(pair);
  const RegionId region = some_region(pair);
  ModelContext& model = *pair.model;
  const auto found = model.tensors.find(base);
  if (found == model.tensors.end() || found->second.storage->foreign()) return;
  Operand seen;
  pair.real->resolve({&base, 1}, {&seen, 1}, "model");
  const std::int64_t reach = seen.dense ? 1 : seen.strides[0];
  if (seen.shape.rank() == 0 || (seen.shape.dims()[0] - 1) * reach < 2) return;
  Handle handle = 0;
  const bool made = agrees(takes(pair, region), [&] {
    handle = pair.real->strided_view(base, seen, 0, {2}, {.shape = {2}, .region = region});
  });
  if (!made) return;
  model.born(handle, found->second.storage, region, true);
  model.tensors.at(handle).strided = true;
  keep(pair, handle);
}

void BooksWorld::make_dense(Pair& pair) {
  const Handle handle = some_handle(pair);
  if (lives(pair, handle) && pair.model->tensors.at(handle).strided) lay_out(pair, handle);
}

// A birth in Ebb's own memory drains its orphans; the tensor itself may be one of them.
void BooksWorld::lay_out(Pair& pair, Handle handle) {
  ModelContext& model = *pair.model;
  Operand operand;
  pair.real->resolve({&handle, 1}, {&operand, 1}, "model");
  if (model.anything_queued) model.drain(reclaiming(), false);
  pair.real->make_dense(handle, operand);
  ASSERT_TRUE(operand.dense);
  const std::uint64_t bytes = operand.memory.data().size();
  if (lives(pair, handle)) return model.make_dense(handle, bytes);
  model.end_storage(*model.new_storage(*cpu_, bytes, 0), Reason::kDisposed);
}

void BooksWorld::adopt(Pair& pair) {
  Device& device = some_foreign();
  const RegionId region = some_region(pair);
  const std::uint64_t key = chance(2) ? 0 : 1 + pick(300);
  const std::uint64_t bytes = pick(10000);
  const bool watched = !chance(5);
  Handle handle = 0;
  const bool made = agrees(takes(pair, region), [&] {
    handle = pair.real->adopt(
        {.device = &device, .key = key, .bytes = bytes, .region = region, .watched = watched});
  });
  if (!made) return;
  ModelContext& model = *pair.model;
  const auto shared = model.keys.find({device.id(), key});
  const bool shares = key != 0 && shared != model.keys.end();
  model.born(handle, shares ? shared->second : model.new_storage(device, bytes, key), region,
             watched);
  keep(pair, handle);
}

void BooksWorld::rebook(Pair& pair) {
  const Handle handle = some_handle(pair);
  Device& to = some_foreign();
  ModelContext& model = *pair.model;
  const auto found = model.tensors.find(handle);
  bool valid = found != model.tensors.end() && found->second.storage->foreign();
  if (valid && found->second.storage->device != &to) {
    const std::uint64_t key = found->second.storage->key;
    valid = key == 0 || !model.keys.contains({to.id(), key});
  }
  const std::uint64_t bytes = pick(10000);
  if (agrees(valid, [&] { pair.real->rebook(handle, &to, bytes); }))
    model.rebook(handle, to, bytes);
}

void BooksWorld::dispose(Pair& pair) {
  const Handle handle = some_handle(pair);
  const bool live = lives(pair, handle);
  bool ended = false;
  try {
    ended = pair.real->dispose(handle);
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::kStaleHandle);
  }
  ASSERT_EQ(ended, live);
  if (live) pair.model->end(handle, Reason::kDisposed);
}

void BooksWorld::orphan(Pair& pair) {
  const Handle handle = some_handle(pair);
  // A forged name may be somebody's: then it is a notice like any other.
  for (Pair& each : pairs_) each.model->orphan(handle);
  Context::orphan(handle);
  if (chance(100) && !holds_.empty()) {
    const Hold& hold = holds_[pick(holds_.size())];
    Context::orphan(hold.name);  // goes through its context's queue, and out again
    if (hold.name != 0 && hold.storage->context != nullptr) {
      hold.storage->context->anything_queued = true;
    }
  }
}

void BooksWorld::hold(Pair& pair) {
  const Handle handle = some_handle(pair);
  if (lives(pair, handle) && pair.model->tensors.at(handle).strided) {
    lay_out(pair, handle);  // as hold_by_name would
    if (!lives(pair, handle)) return;
  }
  Hold hold;
  const bool by_name = chance(2);
  const bool held = agrees(lives(pair, handle), [&] {
    if (by_name) {
      hold.name = pair.real->hold_by_name(handle);
    } else {
      hold.ref = pair.real->hold(handle);
    }
  });
  if (!held) return;
  hold.storage = pair.model->tensors.at(handle).storage;
  ++hold.storage->holds;
  holds_.push_back(std::move(hold));
}

void BooksWorld::let_go(Pair&) {
  if (holds_.empty()) return;
  std::swap(holds_[pick(holds_.size())], holds_.back());
  Hold hold = std::move(holds_.back());
  holds_.pop_back();
  if (hold.name != 0) {
    ASSERT_EQ(Context::held_data(hold.name).data() == nullptr, hold.storage->foreign());
    ASSERT_TRUE(Context::release_by_name(hold.name));
  }
  hold.ref.reset();
  release(*hold.storage, in_use_);
}

void BooksWorld::describe(Pair& pair) {
  const Handle handle = some_handle(pair);
  TensorInfo info;
  if (!agrees(lives(pair, handle), [&] { info = pair.real->describe(handle); })) return;
  const ModelTensor& tensor = pair.model->tensors.at(handle);
  ASSERT_EQ(info.region, tensor.region);
  ASSERT_EQ(info.device, tensor.storage->device);
  ASSERT_EQ(info.orphaned, tensor.noticed);
  ASSERT_EQ(info.dense, !tensor.strided);
}

}  // namespace ebb::model
