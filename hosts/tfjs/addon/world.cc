#include "world.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <iterator>
#include <utility>

#include "runtime.hpp"

namespace ebb::node {
namespace {

// Runs JavaScript from a callback of the core; false if it threw (a worker that is being
// terminated).
bool call(napi_env env, napi_ref function, std::uint32_t argument) {
  napi_handle_scope scope;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return false;
  napi_value target, receiver, value, result;
  const bool done = napi_get_reference_value(env, function, &target) == napi_ok &&
                    napi_get_undefined(env, &receiver) == napi_ok &&
                    napi_create_uint32(env, argument, &value) == napi_ok &&
                    napi_call_function(env, receiver, target, 1, &value, &result) == napi_ok;
  napi_close_handle_scope(env, scope);
  return done;
}

// What this thread has run so far. On a busy machine the time on the clock says more about the
// others, and collecting would be rationed for what they do.
std::uint64_t thread_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

World::World(napi_env env) : env_(env) {
  static std::atomic<std::uint64_t> isolates{0};
  key_space_ = isolates.fetch_add(1, std::memory_order_relaxed) << 44;
}

World::~World() { close(); }

ebb_status World::open(napi_value collect) {
  must(napi_create_reference(env_, collect, 1, &collect_));
  ebb_context_options options{};
  options.size = sizeof options;
  options.name = "node";
  options.flags = EBB_CONTEXT_THREAD;
  options.user = this;
  options.collect = on_collect;
  options.end = on_end;
  options.warn = on_warn;
  options.minor_step = 10 << 20;
  options.major_step = 64 << 20;
  options.name_bytes = 1 << 10;  // what V8 has of a tensor, and a model of its variables
  return ebb_context_create(&options, &context_);
}

void World::close() noexcept {
  if (context_ == 0) return;
  const ebb_context context = std::exchange(context_, 0);
  ebb_context_destroy(context);
  runtimes_.clear();
  for (Watched& one : watched_) {
    if (one.object != nullptr) napi_delete_reference(env_, one.object);
  }
  watched_.clear();
}

Runtime& World::add_runtime(const std::string& device) {
  return *runtimes_.emplace_back(std::make_unique<Runtime>(*this, device));
}

World::Watched& World::entry(std::uint32_t slot) {
  if (slot >= watched_.size()) {
    watched_.resize(std::max<std::size_t>(64, std::size_t{slot} * 2));
    died_.reserve(watched_.size());
    backlog_.reserve(watched_.size());
  }
  return watched_[slot];
}

ebb_status World::adopt(napi_value tensor) {
  const auto slot = static_cast<std::uint32_t>(slate[kSlot]);
  std::int64_t dims[EBB_MAX_RANK];
  ebb_foreign_spec spec{};
  spec.size = sizeof spec;
  spec.device = static_cast<ebb_device>(slate[kDevice]);
  spec.key = static_cast<std::uint64_t>(slate[kKey]) | key_space_;
  spec.bytes = static_cast<std::uint64_t>(slate[kBytes]);
  spec.tag = slot;
  spec.dtype = static_cast<std::uint32_t>(slate[kDtype]);
  spec.rank = static_cast<std::uint32_t>(slate[kRank]);
  const auto kept = std::min<std::uint32_t>(spec.rank, EBB_MAX_RANK);
  std::copy_n(slate + kDims, kept, dims);
  spec.dims = dims;
  spec.site = static_cast<ebb_site>(slate[kSite]);
  spec.flags = tensor == nullptr ? EBB_ADOPT_UNWATCHED : 0;

  Watched& one = entry(slot);
  one = {.foreign = true};
  const ebb_status status = ebb_tensor_adopt(context_, &spec, &one.handle);
  if (status != EBB_OK || tensor == nullptr) return status;
  try {
    attach(slot, tensor);
  } catch (const NodeApiFailure&) {
    ebb_tensors_end(context_, &one.handle, 1,
                    EBB_ENDED_DISPOSED);  // nobody would ever hear of its death
    one = {};
    throw;
  }
  return EBB_OK;
}

ebb_status World::watch_own(napi_value object) {
  const auto slot = static_cast<std::uint32_t>(slate[kSlot]);
  Watched& one = entry(slot);
  one = {};
  attach(slot, object);
  one.handle = static_cast<ebb_handle>(slate[kKey]);
  const auto site = static_cast<ebb_site>(slate[kSite]);
  if (site == 0 || one.handle == 0) return EBB_OK;
  return ebb_tensor_made_at(context_, one.handle, site);
}

void World::attach(std::uint32_t slot, napi_value object) {
  auto* name = reinterpret_cast<void*>(static_cast<std::uintptr_t>(slot));
  must(napi_add_finalizer(env_, object, name, on_death, this, &watched_[slot].object));
}

// The death notice. Runs inside a collection: no JavaScript, no allocation.
void World::on_death(node_api_basic_env, void* name, void* world) {
  auto& self = *static_cast<World*>(world);
  const auto slot = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(name));
  if (slot >= self.watched_.size()) return;  // closed
  Watched& one = self.watched_[slot];
  if (one.handle != 0) ebb_orphan(one.handle);
  if (!one.foreign) {
    one.dead = true;
    self.died_.push_back(slot);
  }
  ++self.signals[kNotices];
}

napi_value World::object_in(std::uint32_t slot) const {
  napi_value object = nullptr;
  if (slot < watched_.size() && watched_[slot].object != nullptr) {
    napi_get_reference_value(env_, watched_[slot].object, &object);
  }
  return object;
}

ebb_handle World::handle_of(std::uint32_t slot) const {
  return slot < watched_.size() ? watched_[slot].handle : 0;
}

void World::forget(std::uint32_t slot) noexcept {
  Watched& one = watched_[slot];
  if (one.object != nullptr) napi_delete_reference(env_, one.object);
  // It died between JavaScript's end of it and now.
  if (one.dead) died_.erase(std::prev(std::find(died_.rbegin(), died_.rend(), slot).base()));
  one = {};
}

void World::flush() {
  if (slate == nullptr) return;  // not opened yet
  const auto count = static_cast<std::uint32_t>(slate[kQueued]);
  if (count == 0) return;
  disposed_.clear();
  scoped_.clear();
  disposed_.reserve(count);
  scoped_.reserve(count);
  slate[kQueued] = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (queue[i] >= 0) {
      disposed_.push_back(static_cast<ebb_handle>(queue[i]));
      continue;
    }
    const auto entry = static_cast<std::uint32_t>(-1 - queue[i]);
    const std::uint32_t slot = entry >> 1;
    if (const ebb_handle handle = watched_[slot].handle; handle != 0)
      (entry & 1 ? scoped_ : disposed_).push_back(handle);
    forget(slot);
  }
  if (!disposed_.empty())
    ebb_tensors_end(context_, disposed_.data(), disposed_.size(), EBB_ENDED_DISPOSED);
  if (!scoped_.empty()) ebb_tensors_end(context_, scoped_.data(), scoped_.size(), EBB_ENDED_REGION);
}

std::uint32_t World::take_ended() {
  std::uint32_t count = 0;
  while (count < ended_capacity && !backlog_.empty()) {
    ended[count++] = backlog_.back();
    backlog_.pop_back();
  }
  if (ebb_reclaim_get() == 0) return count;
  while (count < ended_capacity && !died_.empty()) {
    const std::uint32_t slot = died_.back();
    died_.pop_back();
    watched_[slot].dead = false;
    forget(slot);
    ended[count++] = slot;
  }
  return count;
}

std::string World::take_warning() {
  signals[kWarnings] = 0;
  return std::exchange(warning_, {});
}

std::uint64_t World::on_collect(void* user, ebb_collection kind) {
  auto* self = static_cast<World*>(user);
  const std::uint64_t start = thread_ns();
  if (!call(self->env_, self->collect_, static_cast<std::uint32_t>(kind)))
    return EBB_CANNOT_COLLECT;
  return std::max<std::uint64_t>(thread_ns() - start, 1);
}

void World::on_end(void* user, const ebb_ended* ended, std::size_t count) {
  auto* self = static_cast<World*>(user);
  if (self->context_ == 0) return;  // closing: nobody asks any more
  for (std::size_t i = 0; i < count; ++i) {
    const auto slot = static_cast<std::uint32_t>(ended[i].tag);
    self->forget(slot);
    self->backlog_.push_back(slot);
  }
}

void World::on_warn(void* user, const char* message) {
  auto* self = static_cast<World*>(user);
  try {
    self->warning_.append(self->warning_.empty() ? "" : "\n").append(message);
  } catch (const std::bad_alloc&) {
    return;  // no memory for the words
  }
  ++self->signals[kWarnings];
}

}  // namespace ebb::node
