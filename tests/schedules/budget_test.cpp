// The budget on committed bytes under every schedule: what is counted is never above the limit, and
// what was refused is not counted.
#include "ebb/memory/heap_adaptors.hpp"
#include "schedules/explore.hpp"
#include "schedules/scheduled_heap.hpp"

namespace ebb::schedules {
namespace {

constexpr std::size_t kPiece = CountingHeap::kGranule;

TEST(BudgetSchedules, ThreadsDoNotPassTheLimitTogether) {
  explore("three commits under a limit of two", [](Schedule& run) {
    CountingHeap memory;
    LimitHeap limited(memory, 2 * kPiece);
    int given = 0;
    for (int i = 0; i < 3; ++i) {
      run.thread([&] { given += limited.commit(nullptr, kPiece) ? 1 : 0; });
    }
    run.start();
    run.expect(memory.most <= 2 * kPiece, "more is committed than the limit says");
    run.expect(given == 2, "there was room for two");
    run.expect(limited.committed() == memory.committed, "the count is what is committed");
  });
}

TEST(BudgetSchedules, WhatIsRefusedBelowIsNotCounted) {
  explore("a commit that the memory refuses", [](Schedule& run) {
    CountingHeap memory;
    memory.refusals = 1;
    LimitHeap limited(memory, 2 * kPiece);
    int given = 0;
    for (int i = 0; i < 2; ++i) {
      run.thread([&] { given += limited.commit(nullptr, kPiece) ? 1 : 0; });
    }
    run.start();
    run.expect(given == 1, "one was refused");
    run.expect(limited.committed() == kPiece, "the refused bytes are still counted");
    run.expect(limited.commit(nullptr, kPiece), "there is room for what was refused");
  });
}

TEST(BudgetSchedules, WhatIsGivenBackCanBeTaken) {
  explore("commit, decommit and a lower limit", [](Schedule& run) {
    CountingHeap memory;
    LimitHeap limited(memory, 2 * kPiece);
    static_cast<void>(limited.commit(nullptr, kPiece));
    run.thread([&] { limited.decommit(nullptr, kPiece); });
    run.thread([&] {
      if (limited.commit(nullptr, 2 * kPiece)) limited.decommit(nullptr, 2 * kPiece);
    });
    run.thread([&] { limited.set_limit(kPiece); });
    run.start();
    run.expect(memory.most <= 2 * kPiece, "more is committed than the limit says");
    run.expect(limited.committed() == 0 && memory.committed == 0, "all is given back");
    run.expect(limited.commit(nullptr, kPiece), "the lower limit is still usable");
    run.expect(!limited.commit(nullptr, kPiece), "the lower limit holds");
  });
}

}  // namespace
}  // namespace ebb::schedules
