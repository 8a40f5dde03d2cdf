// The handles of one context: a record for each tensor and each hold, found by name, and what
// becomes of the death notices that come for them.
//
// A record is in one of four states. In use; noticed, and in the queue; noticed, and waiting in a
// list until it is given back; or ended. One that ends while its slot is in the queue leaves it there,
// also when the slot has its next record: the notice is found to be stale when it is taken off.
//
// Threads: notice() on any, also inside a collection; orphans().noticed() and .waiting() as hints on
// any; everything else under the context's lock.
#pragma once

#include "memory/reclaim.hpp"
#include "tensor/tensor_record.hpp"

namespace ebb {

class HandleTable : SlotTable<TensorRecord> {
 public:
  using Space = SlotSpace<TensorRecord>;
  using SlotTable::acquire;
  using SlotTable::bytes;
  using SlotTable::chunk;
  using SlotTable::chunk_end;
  using SlotTable::clear;
  using SlotTable::find;
  using SlotTable::find_ended;
  using SlotTable::has_chunk;
  using SlotTable::has_ended;
  using SlotTable::has_notices;
  using SlotTable::live;
  using SlotTable::reserve;
  using SlotTable::take_off;

  explicit HandleTable(ContextBody* context) noexcept : context_(context) {}

  // The table that has the slot of that name now, whether or not the name is good; null: none.
  static HandleTable* of(Handle handle) noexcept {
    return static_cast<HandleTable*>(Space::table_of(handle));
  }
  ContextBody& context() const noexcept { return *context_; }

  // The live tensor of that name, or null; holds have names too.
  TensorRecord* find_tensor(Handle handle) const noexcept {
    TensorRecord* record = find(handle);
    return record != nullptr && !record->has(TensorRecord::kHold) ? record : nullptr;
  }
  // Makes the name stale, whatever state the record is in.
  void end(TensorRecord& record) noexcept {
    if (record.has(TensorRecord::kWaiting)) orphans_.withdraw(record, record.storage->foreign());
    release(record);
  }

  // The death notice. Stale names and second notices do nothing.
  static void notice(Handle handle) noexcept;
  Reclaim<TensorRecord>& orphans() noexcept { return orphans_; }
  const Reclaim<TensorRecord>& orphans() const noexcept { return orphans_; }
  static bool is_noticed(const TensorRecord& record) noexcept { return Space::is_noticed(record); }
  // A record just taken off the queue, and noticed, that is not given back now.
  void keep(TensorRecord& record) noexcept;
  // Takes those off the queue that are there, so many at most, and keeps them. True: there may be
  // more.
  bool take_notices(int most) noexcept;
  // In the child of a fork, on the only thread. The threads that are gone may have been between
  // marking a record and linking it, so the queue is made anew of what is marked.
  void go_on_alone() noexcept;

 private:
  ContextBody* const context_;
  Reclaim<TensorRecord> orphans_;
};

}  // namespace ebb
