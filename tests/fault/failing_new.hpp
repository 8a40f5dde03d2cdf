// The global operator new of this executable, made to fail on request.
#pragma once

#include <cstdint>

namespace ebb::fault {

// Counts the calling thread's allocations from now on, and fails number `n` (from 1) or, with
// `and_later`, all from it on.
void fail_new_at(std::uint64_t n, bool and_later) noexcept;
// Back to normal. How many allocations were failed.
std::uint64_t stop_failing_new() noexcept;
// What the device under test's double allocates for itself does not fail.
class Spared {
 public:
  Spared() noexcept;
  ~Spared();
  Spared(const Spared&) = delete;
  Spared& operator=(const Spared&) = delete;

 private:
  bool armed_;
};
// Allocations by new that were not deleted yet, on all threads.
std::int64_t outstanding() noexcept;

}  // namespace ebb::fault
