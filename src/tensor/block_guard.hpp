// A block that goes back unless someone takes it over.
#pragma once

#include <utility>

#include "ebb/memory/pool.hpp"

namespace ebb {

class BlockGuard {
 public:
  BlockGuard(Pool& pool, Block block) noexcept : pool_(pool), block_(block) {}
  ~BlockGuard() {
    if (block_) pool_.free(block_);
  }
  BlockGuard(const BlockGuard&) = delete;
  BlockGuard& operator=(const BlockGuard&) = delete;
  std::byte* data() const noexcept { return block_.data; }
  Block take() noexcept { return std::exchange(block_, Block{}); }

 private:
  Pool& pool_;
  Block block_;
};

}  // namespace ebb
