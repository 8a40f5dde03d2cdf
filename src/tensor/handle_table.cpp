#include "tensor/handle_table.hpp"

namespace ebb {

void HandleTable::notice(Handle handle) noexcept {
  TensorRecord* const slot = Space::mark(handle);
  if (slot == nullptr) return;
  // Only now is it certain whose the record is, and that it stays with that context. Nobody's: it was
  // the last record of a chunk that has no names left, and has ended.
  if (HandleTable* const table = of(handle)) table->orphans_.notice(*slot);
}

void HandleTable::keep(TensorRecord& record) noexcept {
  if (record.has(TensorRecord::kHold)) {  // a forged notice: holds have no host object
    Space::forget_notice(record);
  } else {
    record.flags |= TensorRecord::kWaiting;
    orphans_.keep(record, record.storage->foreign());
  }
}

bool HandleTable::take_notices(int most) noexcept {
  for (; most > 0; --most) {
    TensorRecord* record = orphans_.pop();
    if (record == nullptr) return false;
    if (take_off(*record)) keep(*record);
  }
  return true;
}

void HandleTable::go_on_alone() noexcept {
  orphans_.forget_queue();
  for_each_queued([this](TensorRecord& record) { orphans_.notice(record); });
}

}  // namespace ebb
