#include "world.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <utility>

#include "runtime.hpp"

namespace ebb::node {
namespace {

// The death notice. Runs inside a collection: no JavaScript, no allocation.
void on_death(node_api_basic_env, void* handle, void* signals) {
  ebb_orphan(reinterpret_cast<std::uintptr_t>(handle));
  ++static_cast<std::uint32_t*>(signals)[kNotices];
}

// Runs JavaScript from a callback of the core; false if it threw (a worker that is being
// terminated).
bool call(napi_env env, napi_ref function, std::uint32_t argument) {
  napi_handle_scope scope;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return false;
  napi_value target, receiver, value, result;
  napi_get_reference_value(env, function, &target);
  napi_get_undefined(env, &receiver);
  napi_create_uint32(env, argument, &value);
  const bool done = napi_call_function(env, receiver, target, 1, &value, &result) == napi_ok;
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

World::World(napi_env env) : runtime(std::make_unique<Runtime>()), env_(env) {
  static std::atomic<std::uint64_t> isolates{0};
  key_space_ = isolates.fetch_add(1, std::memory_order_relaxed) << 44;
}

World::~World() { close(); }

ebb_status World::open(napi_value collect) {
  napi_create_reference(env_, collect, 1, &collect_);
  ebb_context_options options{};
  options.size = sizeof options;
  options.name = "node";
  options.user = this;
  options.collect = on_collect;
  options.end = on_end;
  options.warn = on_warn;
  return ebb_context_create(&options, &context_);
}

void World::close() noexcept {
  runtime->close();
  if (context_ == 0) return;
  booking_ = true;
  ebb_context_destroy(context_);
  context_ = 0;
  for (Watched& one : watched_) {
    if (one.tensor != nullptr) napi_delete_reference(env_, one.tensor);
  }
  watched_.clear();
}

ebb_status World::watch(napi_value tensor) {
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

  if (slot >= watched_.size()) watched_.resize(std::max<std::size_t>(64, slot * 2));
  Watched& one = watched_[slot];
  const ebb_status status = ebb_tensor_adopt(context_, &spec, &one.handle);
  if (status == EBB_OK && tensor != nullptr) attach(slot, tensor);
  return status;
}

void World::attach(std::uint32_t slot, napi_value tensor) {
  Watched& one = watched_[slot];
  auto* handle = reinterpret_cast<void*>(static_cast<std::uintptr_t>(one.handle));
  napi_add_finalizer(env_, tensor, handle, on_death, signals, &one.tensor);
}

napi_value World::tensor_of(std::uint32_t slot) const {
  napi_value tensor = nullptr;
  if (slot < watched_.size() && watched_[slot].tensor != nullptr) {
    napi_get_reference_value(env_, watched_[slot].tensor, &tensor);
  }
  return tensor;
}

ebb_handle World::handle_of(std::uint32_t slot) const {
  return slot < watched_.size() ? watched_[slot].handle : 0;
}

void World::forget(std::uint32_t slot) noexcept {
  Watched& one = watched_[slot];
  if (one.tensor != nullptr) napi_delete_reference(env_, one.tensor);
  one = {};
}

void World::flush() {
  const auto count = static_cast<std::uint32_t>(slate[kQueued]);
  if (count == 0) return;
  slate[kQueued] = 0;
  scoped_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t slot = queue[i] >> 1;
    if (queue[i] & 1) {
      scoped_.push_back(slot);
      continue;
    }
    ebb_tensor_dispose(context_, watched_[slot].handle);
    forget(slot);
  }
  if (!scoped_.empty()) flush_scoped();
}

// A scope's end is booked as a region's: one region takes all that ended since the last flush with
// it.
void World::flush_scoped() {
  ebb_region region = 0;
  if (ebb_region_open(context_, 0, nullptr, &region) != EBB_OK) return;
  for (const std::uint32_t slot : scoped_)
    ebb_region_attach(context_, region, watched_[slot].handle);
  booking_ = true;
  ebb_region_close(context_, region);
  booking_ = false;
  for (const std::uint32_t slot : scoped_) forget(slot);
}

std::uint32_t World::take_ended() {
  const auto count =
      static_cast<std::uint32_t>(std::min<std::size_t>(backlog_.size(), ended_capacity));
  const auto first = backlog_.end() - count;
  std::copy(first, backlog_.end(), ended);
  backlog_.erase(first, backlog_.end());
  return count;
}

std::string World::take_warning() {
  signals[kWarnings] = 0;
  return std::exchange(warning_, {});
}

std::uint64_t World::on_collect(void* user, ebb_collection kind) {
  auto* self = static_cast<World*>(user);
  const std::uint64_t start = thread_ns();
  call(self->env_, self->collect_, static_cast<std::uint32_t>(kind));
  const std::uint64_t cost = std::max<std::uint64_t>(thread_ns() - start, 1);
  self->signals[kCollectUs] = static_cast<std::uint32_t>(cost / 1000);
  return cost;
}

void World::on_end(void* user, const ebb_ended* ended, std::size_t count) {
  auto* self = static_cast<World*>(user);
  if (self->booking_) return;
  for (std::size_t i = 0; i < count; ++i) {
    const auto slot = static_cast<std::uint32_t>(ended[i].tag);
    self->forget(slot);
    self->backlog_.push_back(slot);
  }
}

void World::on_warn(void* user, const char* message) {
  auto* self = static_cast<World*>(user);
  if (!self->warning_.empty()) self->warning_ += '\n';
  self->warning_ += message;
  ++self->signals[kWarnings];
}

}  // namespace ebb::node
