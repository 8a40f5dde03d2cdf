// Records of one kind of one context (storages, strided layouts): from chunks, kept on a free list,
// so that ending one allocates nothing and making one rarely does. Under the context's lock.
#pragma once

#include <array>
#include <memory>
#include <vector>

namespace ebb {

// Record has a `Record* next`.
template <typename Record, std::size_t kChunk>
class RecordArena {
 public:
  // Throws std::bad_alloc; then nothing has changed. The record's fields are the last owner's.
  Record& acquire() {
    if (free_ == nullptr) grow();
    Record& record = *free_;
    free_ = record.next;
    ++count_;
    return record;
  }
  void release(Record& record) noexcept {
    record.next = free_;
    free_ = &record;
    --count_;
  }
  std::size_t count() const noexcept { return count_; }

 private:
  void grow() {
    chunks_.push_back(std::make_unique<std::array<Record, kChunk>>());
    for (Record& record : *chunks_.back()) {
      record.next = free_;
      free_ = &record;
    }
  }

  std::vector<std::unique_ptr<std::array<Record, kChunk>>> chunks_;
  Record* free_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace ebb
