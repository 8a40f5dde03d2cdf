// What a recording asks of the layers above, which know the tensors: who lives, and what the books
// say. Called on the recording's thread and on the one that starts it.
#pragma once

#include <functional>

#include "observe/format.hpp"

namespace ebb::observe {

class LiveSource {
 public:
  virtual ~LiveSource() = default;

  virtual void for_each_live(const std::function<void(const LiveTensor&)>& use) = 0;
  // Of all contexts on one device.
  virtual Books books(std::uint8_t device) = 0;
  virtual std::uint64_t orphans() = 0;
};

}  // namespace ebb::observe
