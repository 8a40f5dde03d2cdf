// What any pool over any heap must do. Instantiated in pool_heaps.cpp, one line for each heap.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "ebb/memory/heap.hpp"
#include "ebb/memory/pool.hpp"

namespace ebb::test {

// A heap, or a stack of adaptors, and who owns them.
struct HeapStack {
  std::vector<std::unique_ptr<Heap>> owned;
  Heap* top = nullptr;
};

struct HeapCase {
  std::string name;
  std::function<HeapStack()> make;
  friend std::ostream& operator<<(std::ostream& out, const HeapCase& c) { return out << c.name; }
};

class PoolOnHeap : public ::testing::TestWithParam<HeapCase> {
 protected:
  HeapStack stack_ = GetParam().make();
  Pool pool_{*stack_.top};

  // All blocks are freed: nothing may be in use, and all of it must go back.
  void TearDown() override {
    pool_.check();
    pool_.flush_thread();
    EXPECT_EQ(pool_.stats().in_use, 0u);
    pool_.wait_pending();
    pool_.trim(SIZE_MAX);
    EXPECT_EQ(pool_.stats().committed, 0u);
    pool_.check();
  }
};

// Heaps whose memory the host may touch.
class PoolOnAddressableHeap : public PoolOnHeap {};

}  // namespace ebb::test
