#include "tensor/handle_table.hpp"

namespace ebb {

void HandleTable::notice(Handle handle) noexcept {
  const std::uint64_t generation = generation_of(handle);
  if ((generation & 1u) == 0 || generation > kLastGeneration) return;
  if (of(handle) == nullptr) return;  // nothing lives there
  TensorRecord& slot = *Space::find_slot(handle);
  if (!OrphanQueue<TensorRecord>::mark(slot, handle)) return;
  // Only now is it certain whose the record is, and that it stays with that context.
  of(handle)->orphans_.notice(slot);
}

void HandleTable::keep(TensorRecord& record) noexcept {
  if (!record.live()) {
    --undead_;
    recycle(record);
  } else if (record.has(TensorRecord::kHold)) {  // a forged notice: holds have no host object
    record.word.fetch_and(~1u, std::memory_order_relaxed);
  } else {
    record.flags |= TensorRecord::kWaiting;
    orphans_.keep(record, record.storage->foreign());
  }
}

bool HandleTable::take_notices(int most) noexcept {
  for (; most > 0; --most) {
    TensorRecord* record = orphans_.pop();
    if (record == nullptr) return false;
    keep(*record);
  }
  return true;
}

void HandleTable::go_on_alone() noexcept {
  orphans_.forget_queue();
  for (std::size_t c = 0; c < chunk_end(); ++c) {
    for (TensorRecord& record : chunk(c)) {
      if (record.queued() && !record.has(TensorRecord::kWaiting)) orphans_.notice(record);
    }
  }
}

}  // namespace ebb
