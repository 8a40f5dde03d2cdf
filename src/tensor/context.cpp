// A Context is a name: each call goes to the body that serves it, with the id.
#include "ebb/tensor/context.hpp"

#include "tensor/context_body.hpp"
#include "tensor/context_registry.hpp"
#include "tensor/copies.hpp"

namespace ebb {

constinit thread_local CopyHook copy_hook = nullptr;

Context Context::begin(ContextOptions options) {
  const auto [body, id] = ContextRegistry::instance().create(std::move(options));
  return {body, id};
}

ContextPtr Context::create(ContextOptions options) {
  auto named = std::unique_ptr<Context>(new Context());
  *named = begin(std::move(options));
  return ContextPtr(named.release());
}

std::optional<Context> Context::find(ContextId id) noexcept {
  ContextBody* body = ContextRegistry::instance().find(id);
  return body == nullptr ? std::nullopt : std::optional(Context(*body, id));
}

void ContextCloser::operator()(Context* context) const noexcept {
  const std::unique_ptr<Context> named(context);
  named->close();
}

bool Context::close() const { return body_->close(id_); }
std::string Context::name() const { return body_->name(id_); }

// ---- tensors

Handle Context::make(const TensorSpec& spec) const {
  return body_->with_records(id_, "make", [&] { return body_->make(id_, spec); });
}
MadeTensor Context::make_held(const TensorSpec& spec) const {
  return body_->with_records(id_, "make", [&] { return body_->make_held(id_, spec); });
}
Handle Context::view(Handle base, std::uint64_t byte_offset, const TensorSpec& spec) const {
  return body_->with_records(id_, "view",
                             [&] { return body_->view(id_, base, byte_offset, spec); });
}
Handle Context::strided_view(Handle base, const Operand& seen, std::uint64_t byte_offset,
                             const Strides& strides, const TensorSpec& spec) const {
  return body_->with_records(id_, "view", [&] {
    return body_->strided_view(id_, base, seen, byte_offset, strides, spec);
  });
}
Handle Context::share(Handle handle, RegionId region) const {
  const Handle made =
      body_->with_records(id_, "view", [&] { return body_->share(id_, handle, region); });
  if (copy_hook == nullptr) [[likely]]
    return made;
  try {
    copy_hook(handle, made);
  } catch (...) {
    body_->discard(id_, made);
    throw;
  }
  return made;
}
Handle Context::adopt(const ForeignSpec& spec) const {
  return body_->with_records(id_, "adopt", [&] { return body_->adopt(id_, spec); });
}
void Context::rebook(Handle handle, Device* device, std::uint64_t bytes) const {
  body_->rebook(id_, handle, device, bytes);
}
bool Context::dispose(Handle handle) const { return body_->dispose(id_, handle); }
void Context::discard(Handle handle) const noexcept { body_->discard(id_, handle); }
std::uint64_t Context::end_all(std::span<const Handle> handles, Reason reason) const {
  return body_->end_all(id_, handles, reason);
}
void Context::made_at(Handle handle, SiteId site) const { body_->made_at(id_, handle, site); }
TensorInfo Context::describe(Handle handle) const { return body_->describe(id_, handle); }
StorageRef Context::hold(Handle handle) const { return body_->hold(id_, handle); }
bool Context::is_alone(Handle handle) const { return body_->is_alone(id_, handle); }
bool Context::resolve(std::span<const Handle> handles, std::span<Operand> operands,
                      std::string_view who) const {
  return body_->resolve(id_, handles, operands, who);
}
void Context::make_dense(Handle handle, Operand& operand) const {
  body_->with_records(id_, "copy", [&] { body_->make_dense(id_, handle, operand); });
}
void Context::make_readable(Handle handle, Operand& operand) const {
  if (operand && operand.memory.device().link() != nullptr) make_dense(handle, operand);
}
Handle Context::hold_by_name(Handle handle) const {
  return body_->with_records(id_, "hold", [&] { return body_->hold_by_name(id_, handle); });
}
std::span<std::byte> Context::held_data(Handle hold) { return ContextBody::held_data(hold); }
bool Context::release_by_name(Handle hold) { return ContextBody::release_by_name(hold); }

// ---- regions

RegionId Context::root() const { return body_->root(id_); }
RegionId Context::open(RegionId parent, std::string_view label) const {
  return body_->open(id_, parent, label);
}
bool Context::close(RegionId region) const { return body_->close(id_, region); }
void Context::attach(RegionId region, Handle handle) const { body_->attach(id_, region, handle); }
void Context::attach_temporarily(RegionId region, Handle handle) const {
  body_->attach_temporarily(id_, region, handle);
}
void Context::detach(Handle handle) const { body_->detach(id_, handle); }
void Context::move_to_parent(Handle handle) const { body_->move_to_parent(id_, handle); }
void Context::cap(RegionId region) const { body_->cap(id_, region); }
RegionId Context::shortest_lived(std::span<const Handle> handles) const {
  return body_->shortest_lived(id_, handles);
}
RegionInfo Context::describe_region(RegionId region) const {
  return body_->describe_region(id_, region);
}

// ---- reclaim

void Context::orphan(Handle handle) noexcept { HandleTable::notice(handle); }
Drained Context::safe_point(Device* device, std::uint64_t upcoming, bool scoped) const {
  return body_->safe_point(id_, device, upcoming, scoped);
}
Drained Context::collect(Collection kind, bool rationed) const {
  return body_->collect(id_, kind, rationed);
}
Drained Context::make_room(Device& device, std::uint64_t bytes) const {
  return body_->make_room(id_, device, bytes);
}
std::uint32_t Context::idle(Drained* drained) const { return body_->idle(id_, drained); }
Drained Context::walk(std::uint64_t list, std::uint64_t entries) const {
  return body_->walk(id_, list, entries);
}

// ---- the books

MemoryReading Context::memory(const Device* device) const { return body_->memory(id_, device); }
MemoryReading Context::total_memory(const Device* device) {
  return ContextBody::total_memory(device);
}
void Context::audit() { ContextBody::audit(); }
std::vector<SiteHolding> Context::holdings(const Device* device, By by) const {
  return body_->holdings(id_, device, by);
}
std::vector<SiteHolding> Context::total_holdings(const Device* device, By by) {
  return ContextBody::total_holdings(device, by);
}

}  // namespace ebb
