// Context: one host's world. It owns the root region, the handle table, the orphan queue and the
// books of what this host made, and it is where a program meets them:
//
//   auto& cpu = Device::open({.name = "cpu", .budget = 1 << 30});
//   ContextPtr context = Context::create({.name = "main"});
//   StorageRef memory;
//   {
//     RegionScope scope(*context);
//     Handle a = context->make({.device = &cpu, .dtype = DType::kFloat32, .shape = {256, 1024},
//                               .region = scope.id()});
//     memory = context->hold(a);   // std::span<std::byte> memory.data()
//   }                              // a has ended with its region; memory is still held
//   context->audit();
//
// Every function may be called from any thread. Errors are ebb::Error; a name that has ended is
// kStaleHandle and the message says what it was.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ebb/base/error.hpp"
#include "ebb/memory/site_table.hpp"
#include "ebb/tensor/host.hpp"
#include "ebb/tensor/reading.hpp"
#include "ebb/tensor/spec.hpp"

namespace ebb {

// Reclaim: process-wide, off at first, at any time, both ways.
void set_reclaim(bool on) noexcept;
bool reclaiming() noexcept;

class Context;
class ContextBody;
using ContextId = std::uint64_t;  // names a context; no two ever have the same

struct ContextCloser {
  void operator()(Context* context) const noexcept;
};
using ContextPtr = std::unique_ptr<Context, ContextCloser>;

// A context's name: two words, copied freely. Every call checks under the context's lock that it is
// still the one named, and throws kStaleHandle where it has ended, also while other contexts begin.
class Context {
 public:
  // Ends with the pointer, if nobody has closed it before.
  static ContextPtr create(ContextOptions options);
  // Ends by close(), called by whoever has its name.
  static Context begin(ContextOptions options);
  // By name; none if it has ended. The C ABI's way in.
  static std::optional<Context> find(ContextId id) noexcept;
  // Ends everything in it. Waits for calls under way on other threads; after it the host is not
  // called any more. What is still held comes back when it is let go. False if it had ended, or was
  // about to, already. Throws Error(kWrongState) inside one of the host's own callbacks.
  bool close() const;

  ContextId id() const noexcept { return id_; }
  std::string name() const;

  // ---- tensors
  Handle make(const TensorSpec& spec) const;
  // Dense, over the bytes of the base as they are read: a strided base is made dense first.
  Handle view(Handle base, std::uint64_t byte_offset, const TensorSpec& spec) const;
  // Over the memory of the base as `seen` by resolve: elements of spec.dtype, the first of them
  // `byte_offset` bytes after the base's. 0 where the base has been made dense since.
  Handle strided_view(Handle base, const Operand& seen, std::uint64_t byte_offset,
                      const Strides& strides, const TensorSpec& spec) const;
  // Another tensor like this one over the same memory.
  Handle share(Handle handle, RegionId region = 0) const;
  Handle adopt(const ForeignSpec& spec) const;
  void rebook(Handle handle, Device* device, std::uint64_t bytes) const;
  // False if it had ended already. Throws for a name that never was.
  bool dispose(Handle handle) const;
  // The same where nobody wants it any more: what has ended, with its context or before, stays so.
  void discard(Handle handle) const noexcept;
  // Ends what the host has ended itself, for the reason it gives; it is not told of them. Names
  // that have ended, or never were, are skipped. How many have ended.
  std::uint64_t end_all(std::span<const Handle> handles, Reason reason) const;
  // Where it was made, for a host that learns it only afterwards.
  void made_at(Handle handle, SiteId site) const;
  TensorInfo describe(Handle handle) const;
  StorageRef hold(Handle handle) const;
  // No other tensor is over its memory, and nobody holds that.
  bool is_alone(Handle handle) const;
  // What an operation needs of its operands, all of them under one lock: a reference each, before
  // anything is allocated. A handle of 0 leaves its operand empty. Throws for a name that has ended
  // and for another runtime's data; `who` begins the message. True: some are strided. Pre: the
  // operands are empty.
  bool resolve(std::span<const Handle> handles, std::span<Operand> operands,
               std::string_view who) const;
  // Makes the operand dense, and the tensor it was resolved from, for good (ebb/tensor/layout.hpp).
  // Throws OutOfMemory; then both are as they were. A tensor that has ended since stays ended.
  void make_dense(Handle handle, Operand& operand) const;
  // What read_operand() needs: the same, where the operand is on a device with a link.
  void make_readable(Handle handle, Operand& operand) const;
  // A new tensor and a reference on it: for whoever writes it next.
  MadeTensor make_held(const TensorSpec& spec) const;
  // The same as a name, for hosts. The tensor is dense from then on.
  Handle hold_by_name(Handle handle) const;
  static std::span<std::byte> held_data(Handle hold);
  static bool release_by_name(Handle hold);

  // ---- regions
  RegionId root() const;
  RegionId open(RegionId parent = 0, std::string_view label = {}) const;
  // False if it had ended already.
  bool close(RegionId region) const;
  void attach(RegionId region, Handle handle) const;
  void attach_temporarily(RegionId region, Handle handle) const;
  void detach(Handle handle) const;
  void move_to_parent(Handle handle) const;
  void cap(RegionId region) const;
  RegionId shortest_lived(std::span<const Handle> handles) const;
  RegionInfo describe_region(RegionId region) const;

  // ---- reclaim
  // The death notice. Any thread, also inside a collection; stale names and second notices do
  // nothing.
  static void orphan(Handle handle) noexcept;
  // No kernel of the host's is running: gives orphans back, foreign ones too, and keeps the foreign
  // `device` (null: all of them) under its budget, `upcoming` more bytes being about to be born.
  // Then the pacing: `scoped`, what is made now will end with a scope of the host's.
  Drained safe_point(Device* device = nullptr, std::uint64_t upcoming = 0,
                     bool scoped = false) const;
  Drained collect(Collection kind, bool rationed = false) const;
  // The whole ladder for another runtime that ran out. Throws OutOfMemory if nothing came back.
  Drained make_room(Device& device, std::uint64_t bytes) const;
  // A look from a timer of the host's. Milliseconds until the next; 0: not before the next birth.
  std::uint32_t idle(Drained* drained = nullptr) const;
  // The host is about to walk a list that dead tensors lengthen; its last walk visited so many
  // entries (0: there was none).
  Drained walk(std::uint64_t list, std::uint64_t entries) const;

  // ---- the books
  MemoryReading memory(const Device* device = nullptr) const;
  // All contexts, ended ones too.
  static MemoryReading total_memory(const Device* device = nullptr);
  // The law of the ledger, over everything: throws Error(kInternal) naming the sum that is off.
  static void audit();
  // Who holds what on the device (null: all), most bytes first. Data that several tensors share is
  // split among them.
  std::vector<SiteHolding> holdings(const Device* device = nullptr, By by = By::kSite) const;
  static std::vector<SiteHolding> total_holdings(const Device* device = nullptr, By by = By::kSite);

 private:
  friend class Tensor;
  Context() = default;  // none
  Context(ContextBody& body, ContextId id) noexcept : body_(&body), id_(id) {}

  ContextBody* body_ =
      nullptr;  // lives as long as the process, and serves one context after another
  ContextId id_ = 0;
};

// A region for the extent of a C++ scope; it ends with the scope, also by an exception.
class [[nodiscard]] RegionScope {
 public:
  [[nodiscard]] explicit RegionScope(const Context& context, RegionId parent = 0,
                                     std::string_view label = {})
      : context_(context), id_(context.open(parent, label)) {}
  ~RegionScope() {
    try {
      context_.close(id_);
    } catch (const Error&) {  // its context has ended, and took it along
    }
  }
  RegionScope(const RegionScope&) = delete;
  RegionScope& operator=(const RegionScope&) = delete;

  RegionId id() const noexcept { return id_; }

 private:
  Context context_;
  RegionId id_;
};

// Where the tensors that end from now on, on this thread, are said to end, while tracing is on.
void set_ending_site(SiteId site) noexcept;

}  // namespace ebb
