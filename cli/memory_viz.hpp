// A recording as PyTorch's memory_viz reads it: the pickle that torch.cuda.memory._snapshot() gives.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "cli/traced_memory.hpp"
#include "observe/replay.hpp"

namespace ebb::cli {

// Hears of every storage, and keeps the last so many births and ends.
class MemoryViz final : public observe::ReplayListener {
 public:
  static constexpr std::size_t kMostEvents = 2'000'000;

  void on_begin(std::uint64_t time) override { begin_ = time; }
  void on_storage(std::uint64_t time, const observe::StorageChange& change) override;
  void on_collection(std::uint64_t, std::uint64_t) override {}

  // When all has been heard: the file.
  std::string pickle(const observe::Replay& replay) const;

 private:
  class Writer;

  std::uint64_t begin_ = 0;
  std::vector<StorageEvent> events_;
  std::unordered_map<std::uint64_t, StorageEvent> alive_;
};

}  // namespace ebb::cli
