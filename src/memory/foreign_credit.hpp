// What a context has drawn from the sum of a foreign device and does not use at the moment: what ends
// is kept for what is born next, up to a limit that is small beside the budget. So a program that
// makes and ends tensors in turn leaves the sum alone, which all contexts share.
//
// The device's bytes in use are its sum less the credit of all contexts. Nothing is drawn ahead: when
// the sum rises the credit of whoever draws is used up, so with one context the highest sum is the
// peak.
//
// Threads: bytes() on any, everything else under the context's lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "ebb/memory/device.hpp"

namespace ebb {

class ForeignCredit {
 public:
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

  void born(Device& device, std::uint64_t bytes) noexcept {
    const std::uint64_t has = this->bytes();
    if (has >= bytes) [[likely]]
      return set(has - bytes);
    set(0);
    device.foreign_born(bytes - has);
  }
  void ended(Device& device, std::uint64_t bytes) noexcept {
    const std::uint64_t has = this->bytes(), most = device.most_credit();
    if (bytes <= most && has <= most - bytes) [[likely]]
      return set(has + bytes);
    device.foreign_ended(bytes);
  }
  void give_back(Device& device) noexcept {
    device.foreign_ended(bytes());
    set(0);
  }

 private:
  void set(std::uint64_t bytes) noexcept { bytes_.store(bytes, std::memory_order_relaxed); }

  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace ebb
